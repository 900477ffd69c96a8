// Hadamard transforms, cosines and sines of blocks of rows. Included by kernels_impl.hpp inside a namespace of each
// instruction set; no include guard.

// Two steps of the transform at once: the block is read and written half as often.
template <class Real>
void hadamard(Real* x, const Real* factors, int n) {
    using V = typename Vec<Real>::V;
    for (int f = 0; f < n; ++f) {
        for (int i = 0; i < ROWS; i += W<Real>) store(x + f * ROWS + i, load<V>(x + f * ROWS + i) * factors[f]);
    }
    int step = 1;
    for (; 4 * step <= n; step *= 4) {
        const int apart = step * ROWS;
        for (int start = 0; start < n * ROWS; start += 4 * apart) {
            for (int i = start; i < start + apart; i += W<Real>) {
                V a = load<V>(x + i), b = load<V>(x + i + apart);
                V c = load<V>(x + i + 2 * apart), d = load<V>(x + i + 3 * apart);
                V sum = a + b, difference = a - b, other_sum = c + d, other_difference = c - d;
                store(x + i, sum + other_sum);
                store(x + i + apart, difference + other_difference);
                store(x + i + 2 * apart, sum - other_sum);
                store(x + i + 3 * apart, difference - other_difference);
            }
        }
    }
    if (step < n) {
        const int apart = step * ROWS;
        for (int i = 0; i < apart; i += W<Real>) {
            V a = load<V>(x + i), b = load<V>(x + i + apart);
            store(x + i, a + b);
            store(x + i + apart, a - b);
        }
    }
}

// Half pi in parts, so short that a whole number of quarter turns times the first ones is exact; polynomials of the
// sine and the cosine within an eighth turn (as in Moshier's Cephes library), highest power first.
template <class Real>
struct Turn;
template <>
struct Turn<float> {
    static constexpr float largest = 8192, round = 12582912.0f, quarters = 0.63661977236758134f;
    static constexpr float parts[3] = {1.5703125f, 4.837512969970703125e-4f, 7.54978995489188216e-8f};
    static constexpr float sine[3] = {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
    static constexpr float cosine[3] = {2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f};
};
template <>
struct Turn<double> {
    static constexpr double largest = 1e6, round = 6755399441055744.0, quarters = 0.63661977236758134308;
    static constexpr double parts[3] = {1.57079625129699707031, 7.54978941586159635335e-8, 5.39030285815811905296e-15};
    static constexpr double sine[6] = {1.58962301576546568060e-10, -2.50507477628578072866e-8,
                                       2.75573136213857245213e-6,  -1.98412698295895385996e-4,
                                       8.33333333332211858878e-3,  -1.66666666666666307295e-1};
    static constexpr double cosine[6] = {-1.13585365213876817300e-11, 2.08757008419747316778e-9,
                                         -2.75573141792967388112e-7,  2.48015872888517045348e-5,
                                         -1.38888888888730564116e-3,  4.16666666666665929218e-2};
};

template <class V, class Real, int N>
inline V polynomial(const Real (&coefficients)[N], V z) {
    V sum = splat<V>(coefficients[0]);
    UNROLL for (int i = 1; i < N; ++i) sum = sum * z + coefficients[i];
    return sum;
}

template <class Real>
inline void turn(typename Vec<Real>::V angle, typename Vec<Real>::V& cosine, typename Vec<Real>::V& sine) {
    using V = typename Vec<Real>::V;
    using I = typename Vec<Real>::I;
    using T = Turn<Real>;
    constexpr int SIGN = 8 * sizeof(Real) - 2;   // moves the second bit to the sign
    V rounded = angle * T::quarters + T::round;  // its last bits are the number of quarter turns
    I quarters = (I)rounded;
    rounded -= T::round;
    V rest = ((angle - rounded * T::parts[0]) - rounded * T::parts[1]) - rounded * T::parts[2], z = rest * rest;
    V s = polynomial(T::sine, z) * z * rest + rest;
    V c = (polynomial(T::cosine, z) * z - Real(0.5)) * z + Real(1);
    I odd = (quarters & 1) != 0;
    sine = (V)((I)(odd ? c : s) ^ ((quarters & 2) << SIGN));
    cosine = (V)((I)(odd ? s : c) ^ (((quarters + 1) & 2) << SIGN));
    if (__builtin_expect(bits<Real>(larger(angle, -angle) >= T::largest) != 0, 0)) {
        for (int i = 0; i < W<Real>; ++i) {
            cosine[i] = static_cast<Real>(__builtin_cos(angle[i]));
            sine[i] = static_cast<Real>(__builtin_sin(angle[i]));
        }
    }
}

template <class Real>
void cos_sin(const Real* products, int count, const Real* factors, Real scale, Real* out, std::ptrdiff_t stride,
             int n_rows) {
    using V = typename Vec<Real>::V;
    constexpr int N = W<Real>;  // columns of the output, that is N / 2 frequencies, at a time
    for (int j = 0; j < count; j += N / 2) {
        const int width = count - j < N / 2 ? count - j : N / 2;
        for (int row = 0; row < n_rows; row += N) {
            V part[N] = {};
            for (int i = 0; i < width; ++i) {
                V angle = load<V>(products + (j + i) * ROWS + row);
                turn<Real>(factors ? angle * factors[j + i] : angle, part[2 * i], part[2 * i + 1]);
            }
            UNROLL for (int i = 0; i < N; ++i) part[i] *= scale;
            Real* to = out + row * stride + 2 * j;
            const int height = n_rows - row < N ? n_rows - row : N;
#ifdef VICINAL_SHUFFLE
            if (width == N / 2) {
                exchange_all<1, N>(part);
                for (int i = 0; i < height; ++i) store(to + i * stride, part[i]);
                continue;
            }
#endif
            for (int i = 0; i < height; ++i) {
                for (int k = 0; k < 2 * width; ++k) to[i * stride + k] = part[k][i];
            }
        }
    }
}
