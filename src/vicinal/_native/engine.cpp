#include "engine.hpp"

#include <cmath>
#include <memory>
#include <new>

#include "anchor_index.hpp"
#include "packed_group.hpp"

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
    struct Place {
        std::int32_t group, anchor;
    };

    OwnAnchors(const Groups& groups, const std::uint64_t* fingerprints) {
        if (!fingerprints) return;
        std::int64_t total = groups.anchor_ptr[groups.n_groups];
        keys_.reserve(total);
        for (int t = 0; t < groups.n_groups; ++t) {
            for (int a = 0; a < groups.n_anchors(t); ++a) {
                keys_.push_back({fingerprints[groups.rows[groups.anchor_ptr[t] + a]], {t, a}});
            }
        }
        std::stable_sort(keys_.begin(), keys_.end(), [](const Key& a, const Key& b) { return a.value < b.value; });
    }

    template <class F>
    void for_each(std::uint64_t fingerprint, F f) const {
        auto at = std::lower_bound(keys_.begin(), keys_.end(), fingerprint,
                                   [](const Key& key, std::uint64_t value) { return key.value < value; });
        for (; at != keys_.end() && at->value == fingerprint; ++at) f(at->place);
    }

private:
    struct Key {
        std::uint64_t value;
        Place place;
    };
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

// One block of rows against one group.
template <class Real>
class BlockSearch {
public:
    std::vector<Real> distances;  // k x ROWS
    std::vector<std::int32_t> index;
    double sum = 0;
    std::int64_t n_summed = 0;

    BlockSearch(const Kernels<Real>& kernels, Metric metric, int k)
        : distances(k * ROWS), index(k * ROWS), kernels_(kernels), metric_(metric), k_(k) {}

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

    // The nearest anchor of complete rows in one go. False: rounding or overflow leaves a doubt.
    bool by_tiles(const PackedGroup<Real>& group, const Real* x, int n_rows) {
        const Real* tiles = group.tiles.data();
        Form form = Form::squared;
        if (group.by_products) {
            form = measure_rows(group, x);
            kernels_.nearest_by_dots(x, group.features, group.m, tiles, group.half_norms.data(), group.n_tiles,
                                     distances.data(), limit_, index.data());
        } else {
            kernels_.nearest_by_squares(x, group.features, group.m, tiles, group.n_tiles, distances.data(),
                                        index.data());
        }
        bool sure = true;
        for (int row = 0; row < n_rows; ++row) {
            sure &= distances[row] < std::numeric_limits<Real>::infinity();
            if (group.by_products) {
                sure &= limit_[row] - distances[row] > 2 * (group.most_a + size_[row] * group.most_b);
            }
        }
        for (int row = 0; sure && row < n_rows; ++row) distances[row] = distance(group, x, row, row, form);
        return sure;
    }

    // own: pairs (row of the block, anchor) that are one and the same
    void by_scan(const PackedGroup<Real>& group, const Real* x, int n_rows, std::uint32_t missing,
                 const std::vector<std::pair<int, int>>& own, bool with_sum, bool with_nearest) {
        scores_.resize(static_cast<std::size_t>(group.n_tiles) * TILE * ROWS);
        const std::uint32_t all = n_rows == 32 ? ~std::uint32_t(0) : (std::uint32_t(1) << n_rows) - 1;
        const std::uint32_t incomplete = group.has_missing ? all : missing & all;
        Form form = score(group, x);
        for (int row = 0; row < n_rows; ++row) {
            if (incomplete >> row & 1) {
                kernels_.partial(x + row, group.features, group.m, group.tiles.data(), group.n_tiles, metric_,
                                 scores_.data() + row);
            }
        }
        if (with_sum) add_up(group, form, n_rows, incomplete);
        if (!with_nearest) return;
        for (auto [row, anchor] : own) scores_[anchor * ROWS + row] = std::numeric_limits<Real>::infinity();
        kernels_.select(scores_.data(), group.r, k_, distances.data(), index.data());

        std::uint32_t unsure = 0;
        if (form == Form::expanded || form == Form::projected) unsure = near_ties(group);
        for (int row = 0; row < n_rows; ++row) {
            if (incomplete >> row & 1) {
                continue;  // its scores are distances already
            } else if (index[(k_ - 1) * ROWS + row] < 0) {  // overflow, or too few anchors that are not the row itself
                choose(group, x, row, own, std::numeric_limits<Real>::infinity());
            } else if (unsure >> row & 1) {
                choose(group, x, row, own, limit_[row]);
            } else {
                for (int e = row; e < k_ * ROWS; e += ROWS) distances[e] = distance(group, x, row, e, form);
            }
        }
    }

private:
    const Kernels<Real>& kernels_;
    Metric metric_;
    int k_;
    std::vector<Real> scores_;
    alignas(64) Real size_[ROWS] = {}, offset_[ROWS] = {}, limit_[ROWS];

    Form measure_rows(const PackedGroup<Real>& group, const Real* x) {
        const bool cosine = metric_ == Metric::cosine;
        kernels_.squared_norms(x, group.features, group.m, size_);
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
            kernels_.dots(x, group.features, group.m, tiles, group.half_norms.data(), group.n_tiles, scores_.data());
            return measure_rows(group, x);
        }
        auto differences = metric_ == Metric::manhattan ? kernels_.absolutes : kernels_.squares;
        differences(x, group.features, group.m, tiles, group.n_tiles, scores_.data());
        return metric_ == Metric::manhattan ? Form::plain : Form::squared;
    }

    void add_up(const PackedGroup<Real>& group, Form form, int n_rows, std::uint32_t incomplete) {
        double sums[ROWS];
        kernels_.sum_distances(scores_.data(), group.r, form, offset_, sums);
        for (int row = 0; row < n_rows; ++row) {
            if (incomplete >> row & 1) {
                for (int a = 0; a < group.r; ++a) {
                    Real d = scores_[a * ROWS + row];
                    if (d - d != 0) continue;
                    sum += d;
                    ++n_summed;
                }
            } else {
                sum += sums[row];
                n_summed += group.r;
            }
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
    void choose(const PackedGroup<Real>& group, const Real* x, int row, const std::vector<std::pair<int, int>>& own,
                Real limit) {
        struct Candidate {
            bool own;
            double distance;
            int anchor;
        };
        std::vector<Candidate> found;
        for (int a = 0; a < group.r; ++a) {
            if (!(scores_[a * ROWS + row] > limit + group.error_a[a] + size_[row] * group.error_b[a])) {
                bool is_own = std::find(own.begin(), own.end(), std::pair(row, a)) != own.end();
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
        std::vector<Own> own;
        for (int b = 0; b < n_blocks && !stop; ++b) {
            blocks_[b].load(x_, first + b * ROWS, n_rows(b), place_, options_.fingerprints != nullptr);
            for (int row = 0; options_.fingerprints && row < n_rows(b); ++row) {
                own_.for_each(blocks_[b].fingerprints[row], [&](OwnAnchors::Place place) {
                    own.push_back({place.group, b, row, place.anchor});
                });
            }
        }
        std::sort(own.begin(), own.end());
        auto next_own = own.begin();
        for (int t = 0; t < groups_.n_groups && !stop; ++t) {
            packed_ = false;
            double sum = 0;
            for (int b = 0; b < n_blocks; ++b) {
                std::vector<std::pair<int, int>>& pairs = own_pairs_;
                pairs.clear();
                for (; next_own != own.end() && next_own->group == t && next_own->block == b; ++next_own) {
                    pairs.push_back({next_own->row, next_own->anchor});
                }
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
    struct Own {
        int group, block, row, anchor;
        bool operator<(const Own& o) const {
            return std::tie(group, block, row, anchor) < std::tie(o.group, o.block, o.row, o.anchor);
        }
    };

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
    std::vector<std::pair<int, int>> own_pairs_;

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
