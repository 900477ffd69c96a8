// Which share of pairs of rows is in the order of their grades. Knows arrays only.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace vicinal {

// The sum of w_i w_j (y_j - y_i) over pairs whose grades have y_i < y_j and whose scores have the same order; equal
// scores count half. Ranks are those of grades, from 0.
inline double ordered_pairs(std::int64_t n, const double* scores, const double* grades, const std::int32_t* ranks,
                            const double* weights, std::int32_t n_ranks) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return scores[a] < scores[b]; });
    std::vector<double> sums(static_cast<std::size_t>(n_ranks) + 1), graded(static_cast<std::size_t>(n_ranks) + 1);
    const auto add = [&](std::int64_t row) {
        for (std::int32_t place = ranks[row] + 1; place <= n_ranks; place += place & -place) {
            sums[place] += weights[row];
            graded[place] += weights[row] * grades[row];
        }
    };
    const auto below = [&](std::int64_t row) {
        double sum = 0, products = 0;
        for (std::int32_t place = ranks[row]; place > 0; place -= place & -place) {
            sum += sums[place];
            products += graded[place];
        }
        return weights[row] * (grades[row] * sum - products);
    };
    double total = 0;
    for (std::int64_t first = 0, last = 0; first < n; first = last) {
        for (; last < n && scores[order[last]] == scores[order[first]]; ++last) total += below(order[last]) / 2;
        for (std::int64_t i = first; i < last; ++i) add(order[i]);
        for (std::int64_t i = first; i < last; ++i) total += below(order[i]) / 2;
    }
    return total;
}

}  // namespace vicinal
