// Where the nearest anchors of all rows go, and what a distance becomes there.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels.hpp"

namespace vicinal {

// What a distance d becomes: max(mean - d, epsilon * mean), where the mean is the group's over all rows (RandLocal,
// Alg. 1 line 8) or, with row_means, the row's over all anchors of the group (RULLS, Eq. 6). With widths b of the
// groups, max(exp(-(d^2 - e^2) / 2 b^2), epsilon), where e is the row's least distance in the group, and these numbers
// have a sum of squares of 1. d itself where the group's means are not known yet.
struct ValueRule {
    const double* mean_distances = nullptr;
    double epsilon = 0;
    bool unit_rows = false;
    bool row_means = false;
    const double* widths = nullptr;

    // Distances of a group's anchors that are there, the nearest one's among them.
    template <class Real, class Column>
    void soften(double width, const Column* columns, Real* values, int count) const {
        double nearest = std::numeric_limits<double>::infinity(), squares = 0;
        for (int e = 0; e < count; ++e) {
            if (columns[e] >= 0) nearest = std::min(nearest, static_cast<double>(values[e]));
        }
        for (int e = 0; e < count; ++e) {
            if (columns[e] < 0) continue;
            const double d = values[e], farther = (d - nearest) / width * ((d + nearest) / width);
            const double weight = d > nearest ? (width > 0 ? std::exp(-farther / 2) : 0.0) : 1.0;
            values[e] = static_cast<Real>(std::max(weight, epsilon));
            squares += static_cast<double>(values[e]) * values[e];
        }
        const Real shrink = static_cast<Real>(squares > 0 ? 1 / std::sqrt(squares) : 1);
        for (int e = 0; e < count; ++e) values[e] = columns[e] < 0 ? Real(0) : values[e] * shrink;
    }

    template <class Real>
    Real operator()(Real mean, Real distance) const {
        constexpr Real most = std::numeric_limits<Real>::max() / 2;  // a row so far off that its distances overflow
        mean = mean < most ? mean : most;
        distance = distance < most ? distance : most;
        Real least = static_cast<Real>(epsilon) * (mean > 0 ? mean : Real(1));  // a constant subspace
        return std::max(mean - distance, least);
    }
};

// columns and values: n_rows x n_groups x k; a column is `base` plus the anchor's place in its group, -1 without one.
template <class Real, class Column>
struct NearestOutput {
    Column* columns;
    Real* values;
    int n_groups, k;

    std::int64_t width() const { return static_cast<std::int64_t>(n_groups) * k; }

    // k nearest of a block's rows in group t, as BlockSearch leaves them (level * ROWS + row). `means` is a number per
    // row where the rule goes by rows. Returns how many entries have no anchor.
    int write(int t, std::int64_t base, std::int64_t first, int n_rows, const Real* distances,
              const std::int32_t* index, Real unscale, const ValueRule& rule, const Real* means) const {
        Column* column = columns + first * width() + t * k;
        Real* value = values + first * width() + t * k;
        int n_missing = 0;
        for (int row = 0; row < n_rows; ++row, column += width(), value += width()) {
            for (int level = 0; level < k; ++level) {
                const std::int32_t anchor = index[level * ROWS + row];
                int e = level;
                for (; e > 0 && anchor >= 0 && column[e - 1] > base + anchor; --e) {  // columns ascend within a row
                    column[e] = column[e - 1];
                    value[e] = value[e - 1];
                }
                column[e] = static_cast<Column>(anchor < 0 ? -1 : base + anchor);
                const Real distance = anchor < 0 ? Real(0) : distances[level * ROWS + row] * unscale;
                value[e] = anchor >= 0 && means ? rule(means[row], distance) : distance;
                n_missing += anchor < 0;
            }
        }
        return n_missing;
    }

    // The group's means come in once all distances are there.
    void apply(const ValueRule& rule, std::int64_t first, std::int64_t last) const {
        for (std::int64_t i = first; i < last; ++i) {
            Real* row = values + i * width();
            const Column* column = columns + i * width();
            for (int t = 0; t < n_groups; ++t) {
                if (rule.widths) {
                    rule.soften(rule.widths[t], column + t * k, row + t * k, k);
                    continue;
                }
                Real mean = static_cast<Real>(rule.mean_distances[t]);
                for (int e = t * k; e < (t + 1) * k; ++e) row[e] = column[e] < 0 ? Real(0) : rule(mean, row[e]);
            }
            if (!rule.unit_rows) continue;
            double squares = 0;
            for (std::int64_t e = 0; e < width(); ++e) squares += static_cast<double>(row[e]) * row[e];
            Real shrink = static_cast<Real>(squares > 0 ? 1 / std::sqrt(squares) : 1);
            for (std::int64_t e = 0; e < width(); ++e) row[e] *= shrink;
        }
    }
};

}  // namespace vicinal
