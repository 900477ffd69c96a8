// Compiled without contraction of products and sums: machines with and without FMA agree.
#include "pair_distances.hpp"

#include <cmath>

namespace vicinal {
namespace {

constexpr int LANES = 8;
constexpr int SPARE_BITS = 53 - 44;
constexpr double CHORD_STEPS = 0x1p48;  // per unit: rounding moves ends of rows of length 1 by less than half a step

struct Sum {
    double lanes[LANES] = {};

    void add(std::int64_t column, double term) { lanes[column % LANES] += term; }
    double total() const {
        return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
    }
};

double rounded(double v) {
    if (!(std::abs(v) >= std::numeric_limits<double>::min()) || std::isinf(v)) return v;
    std::uint64_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    bits += std::uint64_t(1) << (SPARE_BITS - 1);
    bits &= ~((std::uint64_t(1) << SPARE_BITS) - 1);
    std::memcpy(&v, &bits, sizeof bits);
    return v;
}

// 2^-e for numbers up to 2^e, within what a double holds.
double power_against(double largest) {
    int exponent = 0;
    std::frexp(largest, &exponent);
    return std::ldexp(1.0, std::clamp(-exponent, -1000, 1000));
}

double largest_of_row(const Matrix& x, std::int64_t row) {
    double largest = 0;
    for_each_entry(x, row,
                   [&](std::int64_t, auto v) { largest = std::max(largest, std::abs(static_cast<double>(v))); });
    return largest;
}

}  // namespace

RowScale scale_of_row(const Matrix& x, std::int64_t row, Nearness metric) {
    const double largest = largest_of_row(x, row);
    RowScale scale{power_against(largest), 1};
    if (metric != Nearness::cosine) return scale;
    Sum squares;
    for_each_entry(x, row, [&](std::int64_t j, auto v) {
        const double part = static_cast<double>(v) * scale.power;
        squares.add(j, part * part);
    });
    scale.factor = largest > 0 ? 1 / std::sqrt(squares.total()) : 0;
    return scale;
}

double common_power(const Matrix& x) {
    double largest = 0;
    for (std::int64_t i = 0; i < x.n_rows; ++i) largest = std::max(largest, largest_of_row(x, i));
    return power_against(largest);
}

void PairDistances::read_query(std::int64_t i) {
    scale_ = x_scales_ ? x_scales_[i] : RowScale{};
    values_.clear();
    columns_.clear();
    for_each_entry(x_, i, [&](std::int64_t j, auto v) {
        values_.push_back(x_scales_ ? scale_(static_cast<double>(v)) : static_cast<double>(v));
        if (x_.sparse) columns_.push_back(j);
    });
}

// f(column, entry of the query, entry of y), over all columns or over those where a CSR row has an entry.
template <class F>
void PairDistances::for_each_pair(std::int64_t j, F f) const {
    const RowScale scale = y_scales_ ? y_scales_[j] : RowScale{};
    if (!y_.sparse) {
        with_number(y_.type, [&](auto zero) {
            const auto* p = static_cast<const decltype(zero)*>(y_.data) + j * y_.row_stride;
            const std::int64_t stride = y_.column_stride, whole = y_.n_columns - y_.n_columns % LANES;
            std::int64_t c = 0;
            if (stride == 1 && y_scales_) {
                for (; c < whole; c += LANES) {
                    for (int l = 0; l < LANES; ++l) f(c + l, values_[c + l], scale(static_cast<double>(p[c + l])));
                }
            } else if (stride == 1) {
                for (; c < whole; c += LANES) {
                    for (int l = 0; l < LANES; ++l) f(c + l, values_[c + l], static_cast<double>(p[c + l]));
                }
            }
            for (; c < y_.n_columns; ++c) f(c, values_[c], scale(static_cast<double>(p[c * stride])));
        });
        return;
    }
    std::size_t at = 0;
    for_each_entry(y_, j, [&](std::int64_t column, auto v) {
        for (; at < columns_.size() && columns_[at] < column; ++at) f(columns_[at], values_[at], 0.0);
        const bool both = at < columns_.size() && columns_[at] == column;
        f(column, both ? values_[at] : 0.0, scale(static_cast<double>(v)));
        at += both;
    });
    for (; at < columns_.size(); ++at) f(columns_[at], values_[at], 0.0);
}

double PairDistances::sum_of_squares(std::int64_t j) const {
    Sum sum;
    for_each_pair(j, [&](std::int64_t column, double a, double b) { sum.add(column, (a - b) * (a - b)); });
    return sum.total();
}

// Where squares, or even differences, overflow or vanish.
double PairDistances::robust_length(std::int64_t j) const {
    double size = 0, largest = 0;
    for_each_pair(j, [&](std::int64_t, double a, double b) { size = std::max({size, std::abs(a), std::abs(b)}); });
    const double shrink = size > 0x1p1000 ? 0x1p-4 : 1;
    for_each_pair(
        j, [&](std::int64_t, double a, double b) { largest = std::max(largest, std::abs(a * shrink - b * shrink)); });
    if (largest == 0) return 0;
    const double power = power_against(largest);
    Sum sum;
    for_each_pair(j, [&](std::int64_t column, double a, double b) {
        const double part = (a * shrink - b * shrink) * power;
        sum.add(column, part * part);
    });
    return std::sqrt(sum.total()) / power / shrink;
}

double PairDistances::operator()(std::int64_t j) const {
    if (metric_ == Nearness::euclidean) {
        const double squared = sum_of_squares(j);
        return rounded(squared > 1e-270 && squared < 1e300 ? std::sqrt(squared) : robust_length(j));
    }
    if (metric_ == Nearness::cosine) {
        if (scale_.factor == 0 || y_scales_[j].factor == 0) return 1;
        // 1 minus the cosine is half of the squared chord, which does not cancel. Parallel rows are at distance 0.
        const double chord = std::nearbyint(std::sqrt(sum_of_squares(j)) * CHORD_STEPS) / CHORD_STEPS;
        return std::min(2.0, rounded(chord * chord / 2));
    }
    Sum sum;
    if (metric_ == Nearness::manhattan) {
        for_each_pair(j, [&](std::int64_t column, double a, double b) { sum.add(column, std::abs(a - b)); });
        return rounded(sum.total());
    }
    for_each_pair(j, [&](std::int64_t column, double a, double b) { sum.add(column, a * b); });
    return rounded(-sum.total());
}

}  // namespace vicinal
