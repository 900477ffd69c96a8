// What a row's nearest anchors add up to, group by group, where no entry is kept.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels.hpp"

namespace vicinal {

constexpr int N_CELL_SCORES = 4;
constexpr double LEAST_RATIO = 0.05;  // so that a row on its anchor is near, not infinitely near

struct CellScores {
    const double* mean_distances;  // per group, of all rows to all anchors
    const double* emptiness;       // per anchor: how few rows are nearest to it; none: not added
    const double* nearness;        // per anchor: one over the usual distance of its rows; none: not added
    double* sums;  // n_rows x N_CELL_SCORES: groups, distances as shares of the mean, emptiness, log ratios

    // The nearest anchors of a block's rows in group t; a row without one adds nothing.
    template <class Real>
    void add(int t, std::int64_t base, std::int64_t first, int n_rows, const Real* distances, const std::int32_t* index,
             Real unscale) const {
        const double mean = mean_distances[t];
        for (int row = 0; row < n_rows; ++row) {
            if (index[row] < 0) continue;
            const std::int64_t anchor = base + index[row];
            const double distance = static_cast<double>(distances[row] * unscale);
            double* sum = sums + (first + row) * N_CELL_SCORES;
            sum[0] += 1;
            // Beyond the mean the logarithm goes on, so that one column far out counts, and not more than all others.
            // Where all rows are alike in the group's columns, any other row is far.
            sum[1] += distance < mean ? distance / mean : mean > 0 ? 1 + std::log(distance / mean) : distance > 0;
            if (emptiness) sum[2] += emptiness[anchor];
            if (nearness) sum[3] += std::log(distance * nearness[anchor] + LEAST_RATIO);
        }
    }
};

}  // namespace vicinal
