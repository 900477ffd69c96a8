// The nearest anchors of one block of rows in one group, by the cheapest way that is sure of its answer.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "anchor_index.hpp"
#include "packed_group.hpp"

namespace vicinal {

// Pairs (row of a block, anchor of a group) that are one and the same, ascending.
using OwnPairs = std::vector<std::pair<int, int>>;

// One block of rows against one group.
template <class Real>
class BlockSearch {
public:
    std::vector<Real> distances;  // k x ROWS
    std::vector<std::int32_t> index;
    double sum = 0;
    std::int64_t n_summed = 0;

    // Over the anchors that the row has a distance to; known after a scan with sums.
    Real row_mean(int row) const {
        return static_cast<Real>(row_counts_[row] ? row_sums_[row] / static_cast<double>(row_counts_[row]) : 0.0);
    }

    BlockSearch(const Kernels<Real>& kernels, Metric metric, int k)
        : distances(k * ROWS), index(k * ROWS), kernels_(kernels), metric_(metric), k_(k) {}

    // x: the group's features of the rows, one after the other. By tiles where that may do, else by a scan. Ties and
    // anchors of very uneven length raise doubts; where most tries end in doubt, no more are made.
    void find(const PackedGroup<Real>& group, const Real* x, int n_rows, std::uint32_t missing, const OwnPairs& own,
              bool with_sum, bool with_nearest) {
        sum = 0;
        n_summed = 0;
        const bool plain = k_ == 1 && !with_sum && own.empty() && !missing;
        if (plain && metric_ != Metric::manhattan && !group.has_missing) {
            const bool one_by_one = !group.by_products && group.r < MANY_ANCHORS;
            if (!one_by_one && 4 * n_doubts_ <= n_tries_ + 8) {
                ++n_tries_;
                if (group.by_products ? by_dots(group, x, n_rows) : by_best_tile(group, x, n_rows)) return;
                ++n_doubts_;
            }
            if (!group.by_products && by_squares(group, x, n_rows)) return;
        }
        by_scan(group, x, n_rows, missing, own, with_sum, with_nearest);
    }

    // For anchors that may raise fewer doubts than those before.
    void forget_doubts() { n_tries_ = n_doubts_ = 0; }

    bool by_index(const AnchorIndex<Real>& anchors, const Real* x, const std::int32_t* features) {
        const Real* x0 = x + static_cast<std::ptrdiff_t>(features[0]) * ROWS;
        bool finite;
        if (anchors.kind == AnchorIndex<Real>::Kind::line) {
            finite = kernels_.search_line(anchors.line, metric_, x0, distances.data(), index.data());
        } else {
            const Real* x1 = x + static_cast<std::ptrdiff_t>(features[1]) * ROWS;
            finite = kernels_.search_grid(anchors.grid, x0, x1, distances.data(), index.data());
        }
        if (metric_ == Metric::euclidean) {
            for (int i = 0; i < ROWS; ++i) distances[i] = std::sqrt(distances[i]);
        }
        return finite;
    }

private:
    static constexpr int MANY_ANCHORS = 192;  // of few features: fewer are looked at one by one

    const Kernels<Real>& kernels_;
    Metric metric_;
    int k_, n_tries_ = 0, n_doubts_ = 0;
    std::vector<Real> scores_;
    double row_sums_[ROWS] = {};
    int row_counts_[ROWS] = {};
    alignas(64) Real size_[ROWS] = {}, offset_[ROWS] = {}, next_[ROWS], limit_[ROWS];

    // The nearest anchor of complete rows in one go. False: rounding or overflow leaves a doubt.
    bool by_dots(const PackedGroup<Real>& group, const Real* x, int n_rows) {
        const Form form = measure_rows(group, x);
        kernels_.nearest_by_dots(x, group.m, group.tiles.data(), group.half_norms.data(), group.r, distances.data(),
                                 next_, index.data());
        bool sure = true;
        for (int row = 0; row < n_rows; ++row) {
            const Real bound = bound_on_errors(group, row);
            sure &= next_[row] - distances[row] > bound && is_safe(group, row);
        }
        for (int row = 0; sure && row < n_rows; ++row) distances[row] = distance(group, x, row, row, form);
        return sure;
    }

    // The same as by_squares: the best tile by products is that of the smallest sum of squares, too, where the other
    // tiles' scores are higher by more than both kinds of rounding.
    bool by_best_tile(const PackedGroup<Real>& group, const Real* x, int n_rows) {
        measure_rows(group, x);
        kernels_.nearest_tile(x, group.m, group.tiles.data(), group.half_norms.data(), group.n_tiles, distances.data(),
                              next_, index.data());
        bool sure = true;
        for (int row = 0; row < n_rows; ++row) {
            const Real bound = bound_on_errors(group, row);
            const Real half = std::abs(distances[row] + offset_[row]) + bound;
            const Real of_squares = 2 * (group.m + 8) * std::numeric_limits<Real>::epsilon() * half;
            sure &= next_[row] - distances[row] > bound + of_squares + std::numeric_limits<Real>::min() &&
                    is_safe(group, row);
        }
        if (!sure) return false;
        kernels_.nearest_in_tile(x, group.m, group.tiles.data(), distances.data(), index.data());
        for (int row = 0; row < n_rows; ++row) distances[row] = std::sqrt(distances[row]);
        return true;
    }

    bool by_squares(const PackedGroup<Real>& group, const Real* x, int n_rows) {
        kernels_.nearest_by_squares(x, group.m, group.tiles.data(), group.r, distances.data(), index.data());
        bool finite = true;
        for (int row = 0; row < n_rows; ++row) finite &= distances[row] < std::numeric_limits<Real>::infinity();
        for (int row = 0; finite && row < n_rows; ++row) distances[row] = std::sqrt(distances[row]);
        return finite;
    }

    // More cautious than near_ties, whatever the rounding of either: what is sure here is sure there.
    Real bound_on_errors(const PackedGroup<Real>& group, int row) const {
        const Real bound = 2 * (group.most_a + size_[row] * group.most_b);
        return bound + 8 * std::numeric_limits<Real>::epsilon() * (std::abs(next_[row]) + bound);
    }

    // No product of this row with an anchor overflows, nor a sum of them.
    bool is_safe(const PackedGroup<Real>& group, int row) const {
        return size_[row] * size_[row] + group.most_half_norm < std::numeric_limits<Real>::max() / 8;
    }

    void by_scan(const PackedGroup<Real>& group, const Real* x, int n_rows, std::uint32_t missing, const OwnPairs& own,
                 bool with_sum, bool with_nearest) {
        scores_.resize(static_cast<std::size_t>(group.n_tiles) * TILE * ROWS);
        const std::uint32_t all = n_rows == 32 ? ~std::uint32_t(0) : (std::uint32_t(1) << n_rows) - 1;
        const std::uint32_t incomplete = group.has_missing ? all : missing & all;
        Form form = score(group, x);
        for (int row = 0; row < n_rows; ++row) {
            if (incomplete >> row & 1) {
                kernels_.partial(x + row, group.m, group.tiles.data(), group.n_tiles, metric_, scores_.data() + row);
            }
        }
        if (with_sum) add_up(group, x, form, n_rows, incomplete);
        if (!with_nearest) return;
        std::vector<Real> own_scores;
        for (auto [row, anchor] : own) {
            own_scores.push_back(scores_[anchor * ROWS + row]);
            scores_[anchor * ROWS + row] = std::numeric_limits<Real>::infinity();
        }
        kernels_.select(scores_.data(), group.r, k_, distances.data(), index.data());

        std::uint32_t unsure = 0;
        if (form == Form::expanded || form == Form::projected) unsure = near_ties(group);
        for (int row = 0; row < n_rows; ++row) {
            if (incomplete >> row & 1) {  // its scores are distances already
                if (index[(k_ - 1) * ROWS + row] < 0) restore_own(row, own, own_scores);
            } else if (index[(k_ - 1) * ROWS + row] < 0) {  // overflow, or too few anchors that are not the row itself
                choose(group, x, row, own, std::numeric_limits<Real>::infinity());
            } else if (unsure >> row & 1) {
                choose(group, x, row, own, limit_[row]);
            } else {
                for (int e = row; e < k_ * ROWS; e += ROWS) distances[e] = distance(group, x, row, e, form);
            }
        }
    }

    Form measure_rows(const PackedGroup<Real>& group, const Real* x) {
        const bool cosine = metric_ == Metric::cosine;
        kernels_.squared_norms(x, group.m, size_);
        for (int i = 0; i < ROWS; ++i) {
            Real half = size_[i] / 2;
            size_[i] = std::sqrt(size_[i]);
            offset_[i] = cosine ? (size_[i] > 0 ? 1 / size_[i] : Real(0)) : half;
        }
        return cosine ? Form::projected : Form::expanded;
    }

    Form score(const PackedGroup<Real>& group, const Real* x) {
        const Real* tiles = group.tiles.data();
        if (group.by_products) {
            kernels_.dots(x, group.m, tiles, group.half_norms.data(), group.r, scores_.data());
            return measure_rows(group, x);
        }
        auto differences = metric_ == Metric::manhattan ? kernels_.absolutes : kernels_.squares;
        differences(x, group.m, tiles, group.r, scores_.data());
        return metric_ == Metric::manhattan ? Form::plain : Form::squared;
    }

    void add_up(const PackedGroup<Real>& group, const Real* x, Form form, int n_rows, std::uint32_t incomplete) {
        kernels_.sum_distances(scores_.data(), group.r, form, offset_, row_sums_);
        for (int row = 0; row < n_rows; ++row) {
            double& total = row_sums_[row];
            row_counts_[row] = group.r;
            if (incomplete >> row & 1) {
                total = 0;
                row_counts_[row] = 0;
                for (int a = 0; a < group.r; ++a) {
                    Real d = scores_[a * ROWS + row];
                    if (d - d != 0) continue;
                    total += d;
                    ++row_counts_[row];
                }
            } else if (!(total < std::numeric_limits<double>::infinity())) {  // so far off that its scores overflow
                total = 0;
                for (int a = 0; a < group.r; ++a) total += group.exact_distance(x + row, a, metric_);
            }
            sum += total;
            n_summed += row_counts_[row];
        }
    }

    // Rows for which rounding could have hidden a nearer anchor.
    std::uint32_t near_ties(const PackedGroup<Real>& group) {
        const Real* worst = distances.data() + (k_ - 1) * ROWS;
        const std::int32_t* at = index.data() + (k_ - 1) * ROWS;
        for (int i = 0; i < ROWS; ++i) {
            Real error = at[i] < 0 ? Real(0) : group.error_a[at[i]] + size_[i] * group.error_b[at[i]];
            limit_[i] = worst[i] + error;
        }
        return kernels_.ambiguous(scores_.data(), group.r, worst, limit_, size_, group.error_a.data(),
                                  group.error_b.data());
    }

    // A row's k nearest by exact distances, among the anchors whose score can be at most the limit.
    void choose(const PackedGroup<Real>& group, const Real* x, int row, const OwnPairs& own, Real limit) {
        struct Candidate {
            bool own;
            double distance;
            int anchor;
        };
        std::vector<Candidate> found;
        auto next_own = std::lower_bound(own.begin(), own.end(), std::pair(row, 0));
        for (int a = 0; a < group.r; ++a) {
            const bool is_own = next_own != own.end() && *next_own == std::pair(row, a);
            next_own += is_own;
            if (!(scores_[a * ROWS + row] > limit + group.error_a[a] + size_[row] * group.error_b[a])) {
                found.push_back({is_own, group.exact_distance(x + row, a, metric_), a});
            }
        }
        auto before = [](const Candidate& a, const Candidate& b) {
            return std::tie(a.own, a.distance, a.anchor) < std::tie(b.own, b.distance, b.anchor);
        };
        std::partial_sort(found.begin(), found.begin() + k_, found.end(), before);
        for (int level = 0; level < k_; ++level) {
            index[level * ROWS + row] = found[level].anchor;
            distances[level * ROWS + row] = static_cast<Real>(found[level].distance);
        }
    }

    // An incomplete row with too few anchors besides itself takes itself after all.
    void restore_own(int row, const OwnPairs& own, const std::vector<Real>& own_scores) {
        int level = 0;
        while (level < k_ && index[level * ROWS + row] >= 0) ++level;
        for (std::size_t i = 0; i < own.size() && level < k_; ++i) {
            if (own[i].first != row || own_scores[i] - own_scores[i] != 0) continue;
            index[level * ROWS + row] = own[i].second;
            distances[level++ * ROWS + row] = own_scores[i];
        }
    }

    Real distance(const PackedGroup<Real>& group, const Real* x, int row, int entry, Form form) const {
        const Real s = distances[entry];
        if (form == Form::plain) return s;
        if (form == Form::squared) return std::sqrt(s);
        // Where most digits cancelled the distance is computed again.
        if (form == Form::expanded) {
            Real half = s + offset_[row];
            if (half > (offset_[row] + group.half_norms[index[entry]]) / 16) return std::sqrt(2 * half);
        } else {
            Real d = 1 + s * offset_[row];
            if (d > Real(1) / 16) return d;
        }
        return static_cast<Real>(group.exact_distance(x + row, index[entry], metric_));
    }
};

}  // namespace vicinal
