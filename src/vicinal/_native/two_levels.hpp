// Two levels of anchors: a row's nearest coarse anchor, then the nearest of the anchors in that one's cell.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "block_search.hpp"
#include "cell_rows.hpp"
#include "engine.hpp"
#include "group_columns.hpp"
#include "projection.hpp"

namespace vicinal {

constexpr std::int64_t CELL_CHUNK_ROWS = 1 << 16;  // rows that share one packing of a cell
constexpr std::int64_t CELL_CHUNK_BYTES = 32 << 20;
constexpr int MOST_BATCHED = 8;  // groups whose entries are written together, so that whole cache lines are
constexpr std::int64_t RULE_ROWS = 1024;

// One thread's work: a chunk of rows against a batch of groups.
template <class Real, class Column>
class CellWorker {
public:
    CellWorker(const Kernels<Real>& kernels, const CellRows<Real>& rows, const Groups& groups,
               const Placement<Real>& place, const ValueRule& rule, const Options& options,
               const NearestOutput<Real, Column>& output, int batch, Outcome& outcome,
               std::atomic<std::int64_t>& n_missing)
        : rows_(rows), groups_(groups), place_(Projection<Real>::of_table(groups, place)), rule_(rule),
          options_(options), output_(output), batch_(batch), outcome_(outcome), n_missing_(n_missing),
          coarse_search_(kernels, groups.metric, 1), search_(kernels, groups.metric, options.n_neighbors),
          projection_(kernels, groups), projected_(groups.projected() ? rows.n_blocks() : 0, groups.table.n_columns),
          cell_of_(rows.n_rows), order_(rows.n_rows) {
        const std::size_t n_lanes = static_cast<std::size_t>(rows.n_blocks()) * ROWS;
        for (Found& found : found_) {
            found.distances.resize(n_lanes * options.n_neighbors);
            found.index.resize(n_lanes * options.n_neighbors);
            if (rule.row_means) found.means.resize(n_lanes);
            if (--batch == 0) break;
        }
        int most = 1;
        for (int t = 0; t < groups.n_groups; ++t) most = std::max(most, groups.n_features(t));
        picked_.reset(new (std::align_val_t(64)) Real[static_cast<std::size_t>(most) * ROWS]());
    }

    void operator()(std::int64_t item, const std::atomic<bool>& stop) {
        const int first = static_cast<int>(item) * batch_, last = std::min(first + batch_, groups_.n_groups);
        for (int t = first; t < last && !stop; ++t) search(t, found_[t - first], stop);
        if (stop || !with_nearest()) return;
        for (int b = 0; b < rows_.n_blocks(); ++b) {
            for (int t = first; t < last; ++t) keep(t, b, found_[t - first]);
        }
    }

private:
    struct Found {  // as BlockSearch leaves them, block after block
        std::vector<Real> distances;
        std::vector<std::int32_t> index;
        std::vector<Real> means;
    };

    const CellRows<Real>& rows_;
    const Groups& groups_;
    Placement<Real> place_;
    const ValueRule& rule_;
    const Options& options_;
    const NearestOutput<Real, Column>& output_;
    int batch_;
    Outcome& outcome_;
    std::atomic<std::int64_t>& n_missing_;
    BlockSearch<Real> coarse_search_, search_;
    Projection<Real> projection_;
    RowMajor<Real> projected_;
    PackedGroup<Real> coarse_, cell_;
    GroupColumns<Real> columns_;
    CellFingerprints own_;
    Found found_[MOST_BATCHED];
    std::vector<std::int32_t> cell_of_, order_, late_;
    std::vector<std::int64_t> starts_;
    std::vector<std::pair<int, int>> late_own_;
    OwnPairs own_pairs_;
    std::unique_ptr<Real[], AlignedDelete<Real>> picked_;
    std::vector<Real> origin_;

    bool with_nearest() const { return output_.columns || options_.scores; }
    const RowMajor<Real>& by_row() const { return groups_.projected() ? projected_ : rows_.by_row; }

    void search(int t, Found& found, const std::atomic<bool>& stop) {
        find_cells(t, found);
        if (!with_nearest()) return;
        std::fill(found.index.begin(), found.index.end(), -1);
        search_.forget_doubts();
        for (std::size_t cell = 0; cell + 1 < starts_.size() && !stop; ++cell) {
            if (starts_[cell] < starts_[cell + 1]) {
                search_cell(t, groups_.coarse_ptr[t] + cell, &order_[starts_[cell]], &order_[starts_[cell + 1]], found);
            }
        }
    }

    // Each row's cell, and the rows in the order of their cells; rows without one are left out.
    void find_cells(int t, Found& found) {
        const int n_cells = static_cast<int>(groups_.coarse_ptr[t + 1] - groups_.coarse_ptr[t]);
        coarse_.pack(groups_, place_, t, groups_.coarse_rows + groups_.coarse_ptr[t], n_cells);
        coarse_search_.forget_doubts();
        own_pairs_.clear();
        starts_.assign(n_cells + 1, 0);
        projection_.choose(t);
        for (int b = 0; b < rows_.n_blocks(); ++b) {
            const int count = rows_.rows_of(b);
            const Real* x = projection_(rows_.blocks[b].x);
            if (groups_.projected() && with_nearest()) projected_.take(b, x, count);
            coarse_search_.find(coarse_, columns_(x, coarse_.features, coarse_.m), count, rows_.blocks[b].missing,
                                own_pairs_, options_.sum_distances || rule_.row_means, with_nearest());
            if (options_.sum_distances) {
                outcome_.sums[t] += coarse_search_.sum;
                outcome_.n_summed[t] += coarse_search_.n_summed;
            }
            for (int i = 0; i < count && with_nearest(); ++i) {
                cell_of_[b * ROWS + i] = coarse_search_.index[i];
                if (coarse_search_.index[i] >= 0) ++starts_[coarse_search_.index[i]];
                if (rule_.row_means) found.means[b * ROWS + i] = coarse_search_.row_mean(i);
            }
        }
        if (!with_nearest()) return;
        std::exclusive_scan(starts_.begin(), starts_.end(), starts_.begin(), std::int64_t(0));
        std::vector<std::int64_t> next(starts_.begin(), starts_.end() - 1);
        for (int i = 0; i < rows_.n_rows; ++i) {
            if (cell_of_[i] >= 0) order_[next[cell_of_[i]]++] = i;
        }
    }

    // Rows that are anchors of the cell themselves, or incomplete, come last: the others are found by tiles.
    void search_cell(int t, std::int64_t cell, const std::int32_t* from, const std::int32_t* to, Found& found) {
        const std::int32_t* anchors = groups_.rows + groups_.cell_ptr[cell];
        const int count = static_cast<int>(groups_.cell_ptr[cell + 1] - groups_.cell_ptr[cell]);
        const int base = static_cast<int>(groups_.cell_ptr[cell] - groups_.anchor_ptr[t]);
        find_origin(cell - groups_.coarse_ptr[t]);
        cell_.pack(groups_, place_, t, anchors, count, origin_.data());
        if (options_.fingerprints) own_.take(options_.fingerprints, anchors, count);
        late_.clear();
        late_own_.clear();
        own_pairs_.clear();
        std::int32_t plain[ROWS];
        int n_plain = 0;
        for (; from != to; ++from) {
            const int at = static_cast<int>(late_.size());
            const bool is_own = options_.fingerprints && own_.each(rows_.fingerprint(*from), [&](int anchor) {
                late_own_.push_back({at, anchor});
            });
            if (is_own || rows_.is_missing(*from)) {
                late_.push_back(*from);
            } else {
                by_row().prefetch(*from);
                plain[n_plain++] = *from;
                if (n_plain == ROWS) search_rows(plain, std::exchange(n_plain, 0), base, found);
            }
        }
        if (n_plain) search_rows(plain, n_plain, base, found);
        auto next = late_own_.begin();
        for (int start = 0; start < static_cast<int>(late_.size()); start += ROWS) {
            own_pairs_.clear();
            for (; next != late_own_.end() && next->first < start + ROWS; ++next) {
                own_pairs_.push_back({next->first - start, next->second});
            }
            search_rows(&late_[start], std::min(ROWS, static_cast<int>(late_.size()) - start), base, found);
        }
    }

    // Seen from their coarse anchor, a cell's anchors are short and well apart: products leave few doubts about which
    // is nearest. Only Euclid's distances are the same from everywhere.
    void find_origin(std::int64_t cell) {
        const Real* coarse = coarse_.anchor(static_cast<int>(cell));
        origin_.assign(coarse_.m, Real(0));
        if (groups_.metric != Metric::euclidean || !coarse_.by_products) return;
        for (int f = 0; f < coarse_.m; ++f) {
            const Real v = coarse[f * TILE];
            origin_[f] = v == v ? v : Real(0);
        }
    }

    void search_rows(const std::int32_t* rows, int count, int base, Found& found) {
        const int k = options_.n_neighbors;
        std::uint32_t missing = 0;
        for (int i = 0; i < count; ++i) {
            const Real* row = by_row().row(rows[i]);
            for (int f = 0; f < coarse_.m; ++f) picked_[f * ROWS + i] = row[coarse_.features[f]] - origin_[f];
            missing |= std::uint32_t(rows_.is_missing(rows[i])) << i;
        }
        search_.find(cell_, picked_.get(), count, missing, own_pairs_, false, true);
        for (int i = 0; i < count; ++i) {
            const std::size_t to = static_cast<std::size_t>(rows[i] / ROWS) * ROWS * k + rows[i] % ROWS;
            for (int e = 0; e < k * ROWS; e += ROWS) {
                const std::int32_t anchor = search_.index[e + i];
                found.index[to + e] = anchor < 0 ? -1 : base + anchor;
                found.distances[to + e] = search_.distances[e + i];
            }
        }
    }

    void keep(int t, int b, Found& found) {
        const Real unscale = static_cast<Real>(1 / groups_.scale);
        const std::size_t at = static_cast<std::size_t>(b) * ROWS;
        const Real* distances = &found.distances[at * options_.n_neighbors];
        const std::int32_t* index = &found.index[at * options_.n_neighbors];
        const std::int64_t first = rows_.first + b * ROWS;
        if (options_.scores) {
            options_.scores->add(t, groups_.anchor_ptr[t], first, rows_.rows_of(b), distances, index, unscale);
            return;
        }
        Real* means = rule_.row_means ? &found.means[at] : nullptr;
        for (int i = 0; means && i < rows_.rows_of(b); ++i) means[i] *= unscale;
        const int n_missing =
            output_.write(t, groups_.anchor_ptr[t], first, rows_.rows_of(b), distances, index, unscale, rule_, means);
        if (n_missing) n_missing_ += n_missing;
    }
};

// What nearest_anchors does, with cells. Sums of distances are over the coarse anchors. Threads share a chunk of rows
// and take groups, so that a cell is packed once for many rows; what they add up to is in the order of the rows.
template <class Real, class Column>
Outcome nearest_in_cells(const Kernels<Real>& kernels, const Matrix& x, const Groups& groups,
                         const Placement<Real>& place, const ValueRule& rule, const Options& options,
                         const Interrupted& interrupted, Column* columns, Real* values) {
    const std::int64_t row_bytes = std::max<std::int64_t>(x.n_columns, 1) * static_cast<std::int64_t>(sizeof(Real));
    const std::int64_t most_blocks =
        std::clamp<std::int64_t>(CELL_CHUNK_BYTES / row_bytes, ROWS, CELL_CHUNK_ROWS) / ROWS;
    const std::int64_t n_blocks = (x.n_rows + ROWS - 1) / ROWS, n_chunks = (n_blocks + most_blocks - 1) / most_blocks;
    const std::int64_t rows_each = (n_blocks + n_chunks - 1) / n_chunks * ROWS;
    const int n_threads = options.scores ? 1 : options.n_threads;  // a row's scores are sums over the groups
    const int batch = std::clamp(groups.n_groups / (4 * n_threads), 1, MOST_BATCHED);
    const std::int64_t n_batches = (groups.n_groups + batch - 1) / batch;
    const NearestOutput<Real, Column> output{columns, values, groups.n_groups, options.n_neighbors};
    CellRows<Real> rows(kernels, x, std::min(rows_each, n_blocks * ROWS), !groups.projected());
    std::atomic<std::int64_t> n_missing{0};
    Outcome out;
    out.sums.assign(options.sum_distances ? groups.n_groups : 0, 0.0);
    out.n_summed.assign(out.sums.size(), 0);
    for (std::int64_t c = 0; c * rows_each < x.n_rows && !out.interrupted; ++c) {
        const Interrupted within = [&](double share) { return interrupted((c + share) / n_chunks); };
        auto at = [&](double n_done) { return [&, n_done](double) { return interrupted(n_done / n_chunks); }; };
        const std::int64_t first = c * rows_each, last = std::min(x.n_rows, first + rows_each);
        bool done = rows.load(first, last, place, groups.metric, options.fingerprints != nullptr, n_threads, at(c));
        done = done && run_parallel(n_batches, n_threads, within, [&] {
                   return CellWorker<Real, Column>(kernels, rows, groups, place, rule, options, output, batch, out,
                                                   n_missing);
               });
        rows.clear();
        if (done && rule.mean_distances) {
            done = run_parallel((last - first + RULE_ROWS - 1) / RULE_ROWS, n_threads, at(c + 1), [&] {
                return [&](std::int64_t part, const std::atomic<bool>&) {
                    const std::int64_t from = first + part * RULE_ROWS;
                    output.apply(rule, from, std::min(last, from + RULE_ROWS));
                };
            });
        }
        out.interrupted = !done;
    }
    out.n_missing = n_missing;
    for (double& sum : out.sums) sum /= groups.scale;
    return out;
}

}  // namespace vicinal
