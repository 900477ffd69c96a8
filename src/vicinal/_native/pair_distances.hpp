// How near two rows are, one pair at a time, in double precision: what decides among candidates, and what is returned.
// Dense and CSR rows, and every instruction set, give the same bits: sums go to LANES places by column, in order.
#pragma once
#include <cstdint>
#include <vector>

#include "source.hpp"

namespace vicinal {

enum class Nearness { euclidean = 0, manhattan = 1, cosine = 2, inner = 3 };

inline bool is_angular(Nearness metric) { return metric == Nearness::cosine || metric == Nearness::inner; }

// A row's entries times `power`, a power of two that keeps squares in range, and `factor`.
struct RowScale {
    double power = 1, factor = 1;

    double operator()(double v) const { return v * power * factor; }
};

// For the cosine, rows of length 1 (factor 0: a row of zeros); for inner products, rows whose largest entry is about 1.
RowScale scale_of_row(const Matrix& x, std::int64_t row, Nearness metric);

// The same power for all rows, for the other side of inner products.
double common_power(const Matrix& x);

// Keys: the smaller, the nearer. They are rounded to 44 binary digits, so that what only rounding tells apart is equal.
class PairDistances {
public:
    // The scales are those of the angular metrics.
    PairDistances(const Matrix& x, const Matrix& y, Nearness metric, const RowScale* x_scales, const RowScale* y_scales)
        : x_(x), y_(y), metric_(metric), x_scales_(x_scales), y_scales_(y_scales) {}

    void read_query(std::int64_t i);

    // The Euclidean, Manhattan or cosine distance of the query and row j of y, or the negative product of the scaled
    // rows.
    double operator()(std::int64_t j) const;

private:
    const Matrix& x_;
    const Matrix& y_;
    const Nearness metric_;
    const RowScale *x_scales_, *y_scales_;
    RowScale scale_;
    std::vector<double> values_;
    std::vector<std::int64_t> columns_;  // of CSR rows

    template <class F>
    void for_each_pair(std::int64_t j, F f) const;
    double sum_of_squares(std::int64_t j) const;
    double robust_length(std::int64_t j) const;
};

}  // namespace vicinal
