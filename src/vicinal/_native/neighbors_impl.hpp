// Exponentials of a row of numbers. Included by kernels_impl.hpp once per instruction set.

// e^x for x <= 0: 2^k e^r with |r| <= ln(2) / 2, whose series ends below the last digit.
inline typename Vec<double>::V exponential(typename Vec<double>::V x) {
    using V = typename Vec<double>::V;
    using I = typename Vec<double>::I;
    constexpr double SERIES[] = {
        1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
        1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0,         1.0};
    constexpr double ROUND = 0x1.8p52;  // its last bits are the whole number that is added to it
    x = larger(x, splat<V>(-708.0));
    V rounded = x * 1.4426950408889634 + ROUND;
    I exponent = (I)rounded << 52;
    rounded -= ROUND;
    V rest = (x - rounded * 0x1.62e42fee00000p-1) - rounded * 0x1.a39ef35793c76p-33;
    return (V)((I)polynomial(SERIES, rest) + exponent);
}

void exponentials(double* values, std::int64_t count, double scale, double highest, double* total, double* moment) {
    using V = typename Vec<double>::V;
    constexpr int N = W<double>;
    V sums{}, moments{};
    std::int64_t j = 0;
    for (; j + N <= count; j += N) {
        V exponent = (load<V>(values + j) - highest) * scale, e = exponential(exponent);
        sums += e;
        moments += e * larger(exponent, splat<V>(-708.0));
        store(values + j, e);
    }
    for (int i = 0; i < N; ++i) *total += sums[i], *moment += moments[i];
    for (; j < count; ++j) {
        const double exponent = (values[j] - highest) * scale;
        values[j] = __builtin_exp(exponent);
        *total += values[j];
        *moment += values[j] * (exponent > -708.0 ? exponent : -708.0);
    }
}
