// One group's anchors, laid out for the kernels.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine.hpp"

namespace vicinal {

template <class Real>
class PackedGroup {
public:
    int m = 0, r = 0, n_tiles = 0;
    const std::int32_t* features = nullptr;
    bool has_missing = false;
    bool by_products = false;  // scores by products of rows and anchors, else by their differences
    std::vector<Real> tiles;
    std::vector<Real> half_norms;                     // |a|^2 / 2, the start of the expanded score
    std::vector<Real> error_a, error_b;               // rounding of an expanded score is at most error_a + |x| error_b
    Real most_a = 0, most_b = 0, most_half_norm = 0;  // the largest of each

    void pack(const Groups& groups, const Placement<Real>& place, int t) {
        pack(groups, place, t, groups.rows + groups.anchor_ptr[t], groups.n_anchors(t));
    }

    // These rows of the table as anchors; with an origin, a number per feature of the group, as seen from there.
    void pack(const Groups& groups, const Placement<Real>& place, int t, const std::int32_t* rows, int count,
              const Real* origin = nullptr) {
        m = groups.n_features(t);
        r = count;
        n_tiles = (r + TILE - 1) / TILE;
        features = groups.features + groups.feature_ptr[t];
        by_products = groups.metric == Metric::cosine || (groups.metric == Metric::euclidean && m > FEW_FEATURES);
        const Real infinity = std::numeric_limits<Real>::infinity();
        tiles.assign(static_cast<std::size_t>(n_tiles) * m * TILE, Real(0));
        half_norms.assign(static_cast<std::size_t>(n_tiles) * TILE, infinity);
        place_of_.resize(groups.table.sparse ? groups.table.n_columns : 0, -1);
        for (int f = 0; f < m && groups.table.sparse; ++f) place_of_[features[f]] = f;
        with_number(groups.table.type, [&](auto zero) {
            const auto* data = static_cast<const decltype(zero)*>(groups.table.data);
            for (int a = 0; a < r; ++a) {
                Real* slot = anchor(a);
                const std::int64_t row = rows[a];
                if (groups.table.sparse) {
                    for_each_entry(groups.table, row, [&](std::int64_t j, auto v) {
                        if (place_of_[j] >= 0) slot[place_of_[j] * TILE] = place(v, j);
                    });
                } else {
                    const auto* p = data + row * groups.table.row_stride;
                    if (a + AHEAD < r) __builtin_prefetch(data + rows[a + AHEAD] * groups.table.row_stride);
                    for (int f = 0; f < m; ++f) {
                        std::int64_t j = features[f];
                        slot[f * TILE] = place(p[j * groups.table.column_stride], j);
                    }
                }
            }
        });
        for (int f = 0; f < m && groups.table.sparse; ++f) place_of_[features[f]] = -1;
        for (std::size_t e = 0; origin && e < tiles.size(); ++e) tiles[e] -= origin[e / TILE % m];
        for (int a = r; a < n_tiles * TILE && !by_products; ++a) {
            for (int f = 0; f < m; ++f) anchor(a)[f * TILE] = anchor(r - 1)[f * TILE];  // it never wins a tie
        }
        if (groups.metric == Metric::cosine) level();
        measure(groups.metric);
    }

    Real* anchor(int a) { return tiles.data() + (static_cast<std::size_t>(a / TILE) * m) * TILE + a % TILE; }
    const Real* anchor(int a) const { return const_cast<PackedGroup*>(this)->anchor(a); }

    std::vector<Real> coordinates(int f) const {
        std::vector<Real> out(r);
        for (int a = 0; a < r; ++a) out[a] = anchor(a)[f * TILE];
        return out;
    }

    // x: one row of a block of the group's features
    double exact_distance(const Real* x, int a, Metric metric) const {
        const Real* slot = anchor(a);
        double sum = 0, xx = 0, aa = 0;
        for (int f = 0; f < m; ++f) {
            double v = x[f * ROWS], w = slot[f * TILE], d = v - w;
            if (metric == Metric::euclidean) {
                sum += d * d;
            } else if (metric == Metric::manhattan) {
                sum += std::abs(d);
            } else {
                sum += v * w;
                xx += v * v;
                aa += w * w;
            }
        }
        if (metric == Metric::euclidean) return std::sqrt(sum);
        if (metric == Metric::manhattan) return sum;
        return xx > 0 && aa > 0 ? std::max(0.0, 1 - sum / (std::sqrt(xx) * std::sqrt(aa))) : 1;
    }

private:
    static constexpr int AHEAD = 8;  // anchors lie anywhere in the table
    std::vector<std::int32_t> place_of_;

    // Anchors whose largest entries are far from 1, as Block::level does it.
    void level() {
        for (int a = 0; a < r; ++a) {
            Real* slot = anchor(a);
            Real largest = 0;
            for (int f = 0; f < m; ++f)
                largest = std::abs(slot[f * TILE]) > largest ? std::abs(slot[f * TILE]) : largest;
            const Real power = leveling_power(largest, Real(1));
            for (int f = 0; f < m && power != 1; ++f) slot[f * TILE] *= power;
        }
    }

    void measure(Metric metric) {
        const double steps = (m + 8) * static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2;
        const double rounding = steps / (1 - std::min(steps, 0.5));
        error_a.assign(r, Real(0));
        error_b.assign(r, static_cast<Real>(rounding));
        has_missing = false;
        for (int t = 0; t < n_tiles; ++t) {
            double norms[TILE] = {};
            Real* tile = tiles.data() + static_cast<std::size_t>(t) * m * TILE;
            for (int f = 0; f < m; ++f) {
                for (int i = 0; i < TILE; ++i) norms[i] += static_cast<double>(tile[f * TILE + i]) * tile[f * TILE + i];
            }
            for (int i = 0; i < TILE && t * TILE + i < r; ++i) {
                const int a = t * TILE + i;
                if (norms[i] != norms[i]) {
                    has_missing = true;
                } else if (metric == Metric::cosine) {
                    Real shrink = static_cast<Real>(norms[i] > 0 ? 1 / std::sqrt(norms[i]) : 1);
                    for (int f = 0; f < m; ++f) tile[f * TILE + i] *= shrink;
                    half_norms[a] = 0;
                } else {
                    half_norms[a] = static_cast<Real>(norms[i] / 2);
                    error_a[a] = static_cast<Real>(rounding * norms[i] / 2);
                    error_b[a] = static_cast<Real>(rounding * std::sqrt(norms[i]));
                }
            }
        }
        most_a = *std::max_element(error_a.begin(), error_a.end());
        most_b = *std::max_element(error_b.begin(), error_b.end());
        most_half_norm = *std::max_element(half_norms.begin(), half_norms.begin() + r);
    }
};

}  // namespace vicinal
