#include "engine.hpp"

#include <cmath>
#include <memory>
#include <new>

#include "block_search.hpp"

namespace vicinal {
namespace {

constexpr std::int64_t CHUNK_BLOCKS = 64;  // rows that share one packing of the anchors
constexpr std::int64_t CHUNK_BYTES = 8 << 20;

// Chunks depend on the data alone, never on the threads: sums come out the same.
struct Chunks {
    std::int64_t n_rows, rows_each, count;

    Chunks(std::int64_t n, std::int64_t bytes_per_block) : n_rows(n) {
        std::int64_t blocks = (n + ROWS - 1) / ROWS;
        std::int64_t most = std::clamp<std::int64_t>(CHUNK_BYTES / std::max<std::int64_t>(bytes_per_block, 1), 1, CHUNK_BLOCKS);
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

    // The first of the anchors with this fingerprint, which follow each other by group and place; null if there is none.
    const Key* first(std::uint64_t fingerprint) const {
        auto at = std::lower_bound(keys_.begin(), keys_.end(), fingerprint,
                                   [](const Key& key, std::uint64_t value) { return key.value < value; });
        return at != keys_.end() && at->value == fingerprint ? &*at : nullptr;
    }
    const Key* end() const { return keys_.data() + keys_.size(); }

private:
    std::vector<Key> keys_;
};

template <class Real, class Column>
void apply_rule_to_rows(std::int64_t n_rows, int n_groups, int k, const ValueRule& rule, const Column* columns,
                        Real* values) {
    for (std::int64_t i = 0; i < n_rows; ++i) {
        Real* row = values + i * n_groups * k;
        const Column* column = columns + i * n_groups * k;
        for (int t = 0; t < n_groups; ++t) {
            Real mean = static_cast<Real>(rule.mean_distances[t]);
            Real least = static_cast<Real>(rule.epsilon) * (mean > 0 ? mean : Real(1));  // a constant subspace
            for (int e = t * k; e < (t + 1) * k; ++e) {
                row[e] = column[e] < 0 ? Real(0) : std::max(mean - row[e], least);
            }
        }
        if (!rule.unit_rows) continue;
        double squares = 0;
        for (int e = 0; e < n_groups * k; ++e) squares += static_cast<double>(row[e]) * row[e];
        Real shrink = static_cast<Real>(squares > 0 ? 1 / std::sqrt(squares) : 1);
        for (int e = 0; e < n_groups * k; ++e) row[e] *= shrink;
    }
}

template <class Real>
struct AlignedDelete {
    void operator()(Real* p) const { ::operator delete[](p, std::align_val_t(64)); }
};

// One thread's work: a chunk of rows against all groups.
template <class Real, class Column>
class Worker {
public:
    Worker(const Kernels<Real>& kernels, const Matrix& x, const Groups& groups, const Placement<Real>& place,
           const ValueRule& rule,
           const Options& options, const Chunks& chunks, const OwnAnchors& own,
           const std::vector<AnchorIndex<Real>>& indexes, Column* columns, Real* values, double* chunk_sums,
           std::atomic<std::int64_t>* n_summed, std::atomic<std::int64_t>& n_missing)
        : x_(x), groups_(groups), place_(place), rule_(rule), options_(options), chunks_(chunks), own_(own), indexes_(indexes),
          columns_(columns), values_(values), chunk_sums_(chunk_sums), n_summed_(n_summed), n_missing_(n_missing),
          search_(kernels, groups.metric, options.n_neighbors),
          blocks_((chunks.rows_each + ROWS - 1) / ROWS, Block<Real>(kernels)) {
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
            for (int row = 0; options_.fingerprints && row < n_rows(b); ++row) {
                own[b * ROWS + row] = own_.first(blocks_[b].fingerprints[row]);
            }
        }
        for (int t = 0; t < groups_.n_groups && !stop; ++t) {
            packed_ = false;
            double sum = 0;
            for (int b = 0; b < n_blocks; ++b) {
                find_own(t, &own[b * ROWS], n_rows(b));
                search(t, blocks_[b], n_rows(b));
                sum += search_.sum;
                if (columns_) write(t, first + b * ROWS, n_rows(b));
            }
            if (chunk_sums_) chunk_sums_[chunk * groups_.n_groups + t] = sum;
        }
        for (int b = 0; b < n_blocks; ++b) blocks_[b].clear(x_, first + b * ROWS, n_rows(b));
        if (rule_.mean_distances && !stop) {
            const std::int64_t width = static_cast<std::int64_t>(groups_.n_groups) * options_.n_neighbors;
            apply_rule_to_rows(last - first, groups_.n_groups, options_.n_neighbors, rule_, columns_ + first * width,
                               values_ + first * width);
        }
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
    Column* columns_;
    Real* values_;
    double* chunk_sums_;
    std::atomic<std::int64_t>* n_summed_;
    std::atomic<std::int64_t>& n_missing_;
    BlockSearch<Real> search_;
    std::vector<Block<Real>> blocks_;
    std::unique_ptr<Real[], AlignedDelete<Real>> memory_;
    PackedGroup<Real> group_;
    bool packed_ = false;
    int n_tries_ = 0, n_doubts_ = 0;
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
        search_.n_summed = 0;
        if (indexes_[t].kind != AnchorIndex<Real>::Kind::none && own_pairs_.empty() && !block.missing &&
            search_.by_index(indexes_[t], block.x, groups_.features + groups_.feature_ptr[t])) {
            return;
        }
        if (!packed_) {
            group_.pack(groups_, place_, t);
            packed_ = true;
            n_tries_ = n_doubts_ = 0;
        }
        // Ties and anchors of very uneven length raise doubts; where most tries end in doubt, no more are made.
        const bool plain = options_.n_neighbors == 1 && !chunk_sums_ && own_pairs_.empty() && !block.missing;
        if (plain && groups_.metric != Metric::manhattan && !group_.has_missing && 4 * n_doubts_ <= n_tries_ + 8) {
            ++n_tries_;
            if (search_.by_tiles(group_, block.x, n_rows)) return;
            ++n_doubts_;
        }
        search_.by_scan(group_, block.x, n_rows, block.missing, own_pairs_, chunk_sums_ != nullptr,
                        columns_ != nullptr);
        if (n_summed_) n_summed_[t] += search_.n_summed;
    }

    void write(int t, std::int64_t first, int n_rows) {
        const int k = options_.n_neighbors;
        const std::int64_t width = static_cast<std::int64_t>(groups_.n_groups) * k, base = groups_.anchor_ptr[t];
        const Real unscale = static_cast<Real>(1 / groups_.scale);
        Column* columns = columns_ + first * width + t * k;
        Real* values = values_ + first * width + t * k;
        int n_missing = 0;
        for (int row = 0; row < n_rows; ++row, columns += width, values += width) {
            for (int level = 0; level < k; ++level) {
                const std::int32_t anchor = search_.index[level * ROWS + row];
                int e = level;
                for (; e > 0 && anchor >= 0 && columns[e - 1] > base + anchor; --e) {  // columns ascend within a row
                    columns[e] = columns[e - 1];
                    values[e] = values[e - 1];
                }
                columns[e] = static_cast<Column>(anchor < 0 ? -1 : base + anchor);
                values[e] = anchor < 0 ? Real(0) : search_.distances[level * ROWS + row] * unscale;
                n_missing += anchor < 0;
            }
        }
        if (n_missing) n_missing_ += n_missing;
    }
};

// An index pays where many rows share it and a scan is long.
template <class Real>
std::vector<AnchorIndex<Real>> build_indexes(const Groups& groups, const Placement<Real>& place, std::int64_t n_rows, const Options& options) {
    std::vector<AnchorIndex<Real>> out(groups.n_groups);
    if (!options.use_index || options.sum_distances || options.n_neighbors > 1) return out;
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
    const Chunks chunks(x.n_rows, x.n_columns * ROWS * static_cast<std::int64_t>(sizeof(Real)));
    const OwnAnchors own(groups, options.fingerprints);
    std::vector<Real> center;
    if (groups.center) center.assign(groups.center, groups.center + x.n_columns);
    const Placement<Real> place{groups.center ? center.data() : nullptr, static_cast<Real>(groups.scale)};
    const auto indexes = build_indexes<Real>(groups, place, x.n_rows, options);
    const std::size_t n_sums = options.sum_distances ? groups.n_groups : 0;
    std::vector<double> chunk_sums(n_sums * chunks.count);
    std::vector<std::atomic<std::int64_t>> n_summed(n_sums);
    std::atomic<std::int64_t> n_missing{0};
    Outcome out;
    out.interrupted = !run_parallel(chunks.count, options.n_threads, interrupted, [&] {
        return Worker<Real, Column>(kernels_of<Real>(set), x, groups, place, rule, options, chunks, own, indexes, columns,
                                    values, n_sums ? chunk_sums.data() : nullptr, n_sums ? n_summed.data() : nullptr,
                                    n_missing);
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
                const Interrupted& interrupted, const Column* columns, Real* values) {
    const Chunks chunks(n_rows, 0);
    const std::int64_t width = static_cast<std::int64_t>(n_groups) * n_neighbors;
    return run_parallel(chunks.count, n_threads, interrupted, [&] {
        return [&](std::int64_t c, const std::atomic<bool>&) {
            apply_rule_to_rows(chunks.last(c) - chunks.first(c), n_groups, n_neighbors, rule,
                               columns + chunks.first(c) * width, values + chunks.first(c) * width);
        };
    });
}

#define INSTANTIATE(Real, Column)                                                                                      \
    template Outcome nearest_anchors<Real, Column>(const InstructionSet&, const Matrix&, const Groups&,                \
                                                   const ValueRule&, const Options&, const Interrupted&, Column*,      \
                                                   Real*);                                                             \
    template bool apply_rule<Real, Column>(std::int64_t, int, int, const ValueRule&, int, const Interrupted&,          \
                                           const Column*, Real*);
INSTANTIATE(float, std::int32_t)
INSTANTIATE(float, std::int64_t)
INSTANTIATE(double, std::int32_t)
INSTANTIATE(double, std::int64_t)

}  // namespace vicinal
