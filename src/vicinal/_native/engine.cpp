#include "engine.hpp"

#include <cmath>
#include <memory>

#include "block_search.hpp"
#include "group_columns.hpp"
#include "projection.hpp"
#include "two_levels.hpp"

namespace vicinal {
namespace {

constexpr std::int64_t CHUNK_BLOCKS = 64;  // rows that share one packing of the anchors
constexpr std::int64_t CHUNK_BYTES = 8 << 20;
constexpr std::int64_t LONE_CHUNK_BYTES = 256 << 10;  // of one group alone: read, and searched while still near

// Chunks depend on the data alone, never on the threads: sums come out the same.
struct Chunks {
    std::int64_t n_rows, rows_each, count;

    Chunks(std::int64_t n, std::int64_t bytes_per_block, bool lone_group = false) : n_rows(n) {
        std::int64_t blocks = (n + ROWS - 1) / ROWS;
        std::int64_t bytes = lone_group ? LONE_CHUNK_BYTES : CHUNK_BYTES;
        std::int64_t most =
            std::clamp<std::int64_t>(bytes / std::max<std::int64_t>(bytes_per_block, 1), 1, CHUNK_BLOCKS);
        std::int64_t wanted = (blocks + most - 1) / most;
        wanted = std::min(blocks, (wanted + 15) / 16 * 16);  // an even share for up to 16 threads
        rows_each = (blocks + wanted - 1) / wanted * ROWS;
        count = (n + rows_each - 1) / rows_each;
    }
    std::int64_t first(std::int64_t c) const { return c * rows_each; }
    std::int64_t last(std::int64_t c) const { return std::min(n_rows, (c + 1) * rows_each); }
};

// Where each fingerprint stands among the anchors: a row that has it is that anchor.
class OwnAnchors {
public:
    struct Key {
        std::uint64_t value;
        std::int32_t group, anchor;
    };

    OwnAnchors(const Groups& groups, const std::uint64_t* fingerprints) {
        if (!fingerprints) return;
        std::int64_t total = groups.anchor_ptr[groups.n_groups];
        keys_.reserve(total);
        for (int t = 0; t < groups.n_groups; ++t) {
            for (int a = 0; a < groups.n_anchors(t); ++a) {
                keys_.push_back({fingerprints[groups.rows[groups.anchor_ptr[t] + a]], t, a});
            }
        }
        std::stable_sort(keys_.begin(), keys_.end(), [](const Key& a, const Key& b) { return a.value < b.value; });
    }

    // The first of the anchors with this fingerprint, which follow each other by group and place; null if there is
    // none.
    const Key* first(std::uint64_t fingerprint) const {
        auto at = std::lower_bound(keys_.begin(), keys_.end(), fingerprint,
                                   [](const Key& key, std::uint64_t value) { return key.value < value; });
        return at != keys_.end() && at->value == fingerprint ? &*at : nullptr;
    }
    const Key* end() const { return keys_.data() + keys_.size(); }

private:
    std::vector<Key> keys_;
};

// One thread's work: a chunk of rows against all groups.
template <class Real, class Column>
class Worker {
public:
    Worker(const Kernels<Real>& kernels, const Matrix& x, const Groups& groups, const Placement<Real>& place,
           const ValueRule& rule, const Options& options, const Chunks& chunks, const OwnAnchors& own,
           const std::vector<AnchorIndex<Real>>& indexes, Column* columns, Real* values, double* chunk_sums,
           std::atomic<std::int64_t>* n_summed, std::atomic<std::int64_t>& n_missing)
        : x_(x), groups_(groups), place_(place), rule_(rule), options_(options), chunks_(chunks), own_(own),
          indexes_(indexes), output_{columns, values, groups.n_groups, options.n_neighbors}, chunk_sums_(chunk_sums),
          n_summed_(n_summed), n_missing_(n_missing), search_(kernels, groups.metric, options.n_neighbors),
          projection_(kernels, groups), blocks_((chunks.rows_each + ROWS - 1) / ROWS, Block<Real>(kernels)) {
        std::size_t size = static_cast<std::size_t>(x.n_columns) * ROWS;
        memory_.reset(new (std::align_val_t(64)) Real[size * blocks_.size()]());
        for (std::size_t b = 0; b < blocks_.size(); ++b) blocks_[b].x = memory_.get() + b * size;
    }

    void operator()(std::int64_t chunk, const std::atomic<bool>& stop) {
        const std::int64_t first = chunks_.first(chunk), last = chunks_.last(chunk);
        const int n_blocks = static_cast<int>((last - first + ROWS - 1) / ROWS);
        auto n_rows = [&](int b) { return static_cast<int>(std::min<std::int64_t>(ROWS, last - first - b * ROWS)); };
        std::vector<const OwnAnchors::Key*> own(n_blocks * ROWS, nullptr);  // each row's next anchor that is itself
        for (int b = 0; b < n_blocks && !stop; ++b) {
            blocks_[b].load(x_, first + b * ROWS, n_rows(b), place_, options_.fingerprints != nullptr);
            if (groups_.metric == Metric::cosine) blocks_[b].level(x_, first + b * ROWS, n_rows(b), Real(1));
            for (int row = 0; options_.fingerprints && row < n_rows(b); ++row) {
                own[b * ROWS + row] = own_.first(blocks_[b].fingerprints[row]);
            }
        }
        for (int t = 0; t < groups_.n_groups && !stop; ++t) {
            double sum = 0;
            projection_.choose(t);
            for (int b = 0; b < n_blocks; ++b) {
                find_own(t, &own[b * ROWS], n_rows(b));
                search(t, blocks_[b], n_rows(b));
                sum += search_.sum;
                if (output_.columns) write(t, first + b * ROWS, n_rows(b));
                if (options_.scores) score(t, first + b * ROWS, n_rows(b));
            }
            if (chunk_sums_) chunk_sums_[chunk * groups_.n_groups + t] = sum;
        }
        for (int b = 0; b < n_blocks; ++b) blocks_[b].clear(x_, first + b * ROWS, n_rows(b));
        if (rule_.mean_distances && !stop) output_.apply(rule_, first, last);
    }

private:
    const Matrix& x_;
    const Groups& groups_;
    const Placement<Real>& place_;
    const ValueRule& rule_;
    const Options& options_;
    const Chunks& chunks_;
    const OwnAnchors& own_;
    const std::vector<AnchorIndex<Real>>& indexes_;
    NearestOutput<Real, Column> output_;
    double* chunk_sums_;
    std::atomic<std::int64_t>* n_summed_;
    std::atomic<std::int64_t>& n_missing_;
    BlockSearch<Real> search_;
    Projection<Real> projection_;
    std::vector<Block<Real>> blocks_;
    std::unique_ptr<Real[], AlignedDelete<Real>> memory_;
    PackedGroup<Real> group_;
    GroupColumns<Real> columns_;
    int packed_ = -1;  // the group that is
    OwnPairs own_pairs_;

    // Moves each row's pointer past the anchors of group t that are the row itself, and notes them.
    void find_own(int t, const OwnAnchors::Key** own, int n_rows) {
        own_pairs_.clear();
        for (int row = 0; row < n_rows; ++row) {
            const OwnAnchors::Key*& key = own[row];
            while (key && key->group == t) {
                own_pairs_.push_back({row, key->anchor});
                const bool more = key + 1 != own_.end() && key[1].value == key->value;
                key = more ? key + 1 : nullptr;
            }
        }
    }

    void search(int t, const Block<Real>& block, int n_rows) {
        search_.sum = 0;
        const Real* x = projection_(block.x);
        const bool with_sums = chunk_sums_ || rule_.row_means;
        if (indexes_[t].kind != AnchorIndex<Real>::Kind::none && own_pairs_.empty() && !block.missing &&
            search_.by_index(indexes_[t], x, groups_.features + groups_.feature_ptr[t])) {
            return;
        }
        if (packed_ != t) {
            group_.pack(groups_, Projection<Real>::of_table(groups_, place_), t);
            packed_ = t;
            search_.forget_doubts();
        }
        search_.find(group_, columns_(x, group_.features, group_.m), n_rows, block.missing, own_pairs_, with_sums,
                     output_.columns || options_.scores);
        if (n_summed_) n_summed_[t] += search_.n_summed;
    }

    void score(int t, std::int64_t first, int n_rows) {
        options_.scores->add(t, groups_.anchor_ptr[t], first, n_rows, search_.distances.data(), search_.index.data(),
                             static_cast<Real>(1 / groups_.scale));
    }

    void write(int t, std::int64_t first, int n_rows) {
        const Real unscale = static_cast<Real>(1 / groups_.scale);
        Real means[ROWS];
        for (int row = 0; rule_.row_means && row < n_rows; ++row) means[row] = search_.row_mean(row) * unscale;
        const int n_missing = output_.write(t, groups_.anchor_ptr[t], first, n_rows, search_.distances.data(),
                                            search_.index.data(), unscale, rule_, rule_.row_means ? means : nullptr);
        if (n_missing) n_missing_ += n_missing;
    }
};

// An index pays where many rows share it and a scan is long.
template <class Real>
std::vector<AnchorIndex<Real>> build_indexes(const Groups& groups, const Placement<Real>& place, std::int64_t n_rows,
                                             const Options& options) {
    std::vector<AnchorIndex<Real>> out(groups.n_groups);
    if (!options.use_index || groups.projected() || options.sum_distances || options.n_neighbors > 1) return out;
    PackedGroup<Real> group;
    for (int t = 0; t < groups.n_groups; ++t) {
        const int r = groups.n_anchors(t), m = groups.n_features(t);
        const bool line = m == 1 && groups.metric != Metric::cosine && r >= 128 && n_rows >= r;
        const bool plane = m == 2 && groups.metric == Metric::euclidean && r >= 400 && n_rows >= 16 * r;
        if (!line && !plane) continue;
        group.pack(groups, place, t);
        if (group.has_missing) continue;
        out[t] = line ? AnchorIndex<Real>::over_line(group.coordinates(0))
                      : AnchorIndex<Real>::over_plane(group.coordinates(0), group.coordinates(1));
    }
    return out;
}

}  // namespace

template <class Real, class Column>
Outcome nearest_anchors(const InstructionSet& set, const Matrix& x, const Groups& groups, const ValueRule& rule,
                        const Options& options, const Interrupted& interrupted, Column* columns, Real* values) {
    std::vector<Real> center;
    if (groups.center) center.assign(groups.center, groups.center + x.n_columns);
    const Placement<Real> place{groups.center ? center.data() : nullptr, static_cast<Real>(groups.scale)};
    if (groups.two_levels()) {
        return nearest_in_cells(kernels_of<Real>(set), x, groups, place, rule, options, interrupted, columns, values);
    }
    const Chunks chunks(x.n_rows, x.n_columns * ROWS * static_cast<std::int64_t>(sizeof(Real)),
                        groups.n_groups == 1 && !groups.projected());
    const OwnAnchors own(groups, options.fingerprints);
    Options used = options;
    used.use_index &= !rule.row_means;
    const auto indexes = build_indexes<Real>(groups, place, x.n_rows, used);
    const std::size_t n_sums = options.sum_distances ? groups.n_groups : 0;
    std::vector<double> chunk_sums(n_sums * chunks.count);
    std::vector<std::atomic<std::int64_t>> n_summed(n_sums);
    std::atomic<std::int64_t> n_missing{0};
    Outcome out;
    out.interrupted = !run_parallel(chunks.count, options.n_threads, interrupted, [&] {
        return Worker<Real, Column>(kernels_of<Real>(set), x, groups, place, rule, options, chunks, own, indexes,
                                    columns, values, n_sums ? chunk_sums.data() : nullptr,
                                    n_sums ? n_summed.data() : nullptr, n_missing);
    });
    out.n_missing = n_missing;
    out.sums.assign(n_sums, 0.0);
    out.n_summed.assign(n_summed.begin(), n_summed.end());
    for (std::int64_t c = 0; c < chunks.count; ++c) {
        for (std::size_t t = 0; t < n_sums; ++t) out.sums[t] += chunk_sums[c * n_sums + t];
    }
    for (double& sum : out.sums) sum /= groups.scale;
    return out;
}

template <class Real, class Column>
bool apply_rule(std::int64_t n_rows, int n_groups, int n_neighbors, const ValueRule& rule, int n_threads,
                const Interrupted& interrupted, Column* columns, Real* values) {
    const Chunks chunks(n_rows, 0);
    const NearestOutput<Real, Column> output{columns, values, n_groups, n_neighbors};
    return run_parallel(chunks.count, n_threads, interrupted, [&] {
        return [&](std::int64_t c, const std::atomic<bool>&) { output.apply(rule, chunks.first(c), chunks.last(c)); };
    });
}

#define INSTANTIATE(Real, Column)                                                                                      \
    template Outcome nearest_anchors<Real, Column>(const InstructionSet&, const Matrix&, const Groups&,                \
                                                   const ValueRule&, const Options&, const Interrupted&, Column*,      \
                                                   Real*);                                                             \
    template bool apply_rule<Real, Column>(std::int64_t, int, int, const ValueRule&, int, const Interrupted&, Column*, \
                                           Real*);
INSTANTIATE(float, std::int32_t)
INSTANTIATE(float, std::int64_t)
INSTANTIATE(double, std::int32_t)
INSTANTIATE(double, std::int64_t)

}  // namespace vicinal
