#include "subspaces.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "tiles.hpp"
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace vicinal {
namespace {

constexpr int PANEL = 8 * TILE;  // rows of the table, or directions, that are packed at a time

// One thread's work: a chunk of rows against all landmarks. A landmark is measured once, however often it was drawn.
template <class Real, class Column>
class SubspaceWorker {
public:
    SubspaceWorker(const Kernels<Real>& kernels, const Matrix& x, const Subspaces& subspaces,
                   const Placement<Real>& place, const ValueRule& rule, int n_nearest, std::int64_t blocks_each,
                   Column* columns, Real* values)
        : kernels_(kernels), x_(x), s_(subspaces), place_(place), rule_(rule), most_blocks_(blocks_each),
          output_{columns, values, subspaces.n_iterations, n_nearest}, blocks_(blocks_each, Block<Real>(kernels)),
          own_(s_.own, s_.own + s_.direction_ptr[s_.n_landmarks]), best_(n_nearest * ROWS), index_(n_nearest * ROWS) {
        for (Real part : own_) own_size_ = std::max(own_size_, std::abs(part));
        const std::size_t size = static_cast<std::size_t>(x.n_columns) * ROWS;
        rows_ = allocate(size * blocks_.size());
        for (std::size_t b = 0; b < blocks_.size(); ++b) blocks_[b].x = rows_.get() + b * size;
        distances_ = allocate(static_cast<std::size_t>(s_.n_landmarks) * blocks_each * ROWS);
        if (s_.neighbors) products_ = allocate(static_cast<std::size_t>(s_.table.n_rows) * blocks_each * ROWS);
    }

    void operator()(std::int64_t chunk, const std::atomic<bool>& stop) {
        const std::int64_t first = chunk * most_blocks_ * ROWS;
        const std::int64_t last = std::min(x_.n_rows, first + most_blocks_ * ROWS);
        n_blocks_ = static_cast<int>((last - first + ROWS - 1) / ROWS);
        auto n_rows = [&](int b) { return static_cast<int>(std::min<std::int64_t>(ROWS, last - first - b * ROWS)); };
        for (int b = 0; b < n_blocks_; ++b) {
            blocks_[b].load(x_, first + b * ROWS, n_rows(b), place_, false);
            if (s_.metric == Metric::cosine) blocks_[b].level(x_, first + b * ROWS, n_rows(b), own_size_);
        }
        if (s_.neighbors) {
            multiply_by_table(stop);
            for (int p = 0; p < s_.n_landmarks && !stop; ++p) measure_by_products(p);
        } else {
            measure_by_directions(stop);
        }
        for (int b = 0; b < n_blocks_; ++b) blocks_[b].clear(x_, first + b * ROWS, n_rows(b));
        for (int t = 0; t < s_.n_iterations && !stop; ++t) {
            for (int b = 0; b < n_blocks_; ++b) choose(t, b, first + b * ROWS, n_rows(b));
        }
    }

private:
    static constexpr std::size_t PAGE = 2 << 20;
    struct Free {
        void operator()(Real* p) const { ::operator delete[](p, std::align_val_t(PAGE)); }
    };
    using Memory = std::unique_ptr<Real[], Free>;

    const Kernels<Real>& kernels_;
    const Matrix& x_;
    const Subspaces& s_;
    const Placement<Real>& place_;
    const ValueRule& rule_;
    const std::int64_t most_blocks_;
    NearestOutput<Real, Column> output_;
    std::vector<Block<Real>> blocks_;
    std::vector<Real> own_, parts_, tile_, init_, scores_, best_;
    std::vector<std::int32_t> index_, lines_;
    Memory rows_, products_, distances_;  // the last two: a line of n_blocks * ROWS numbers per table row, per landmark
    Tiles<Real> tiles_;
    int n_blocks_ = 0;
    Real own_size_ = 0;  // of the landmarks' largest product: rows of that size do not cancel with them

    // Far apart in large pieces, products are found sooner in large pages.
    static Memory allocate(std::size_t size) {
        Real* memory = static_cast<Real*>(::operator new[](size * sizeof(Real), std::align_val_t(PAGE)));
#ifdef __linux__
        madvise(memory, size * sizeof(Real), MADV_HUGEPAGE);
#endif
        std::fill_n(memory, size, Real(0));
        return Memory(memory);
    }

    Real* distances(int p, int b) { return distances_.get() + (static_cast<std::size_t>(p) * n_blocks_ + b) * ROWS; }

    void multiply_by_table(const std::atomic<bool>& stop) {
        parts_.resize(PANEL * ROWS);
        for (std::int64_t row = 0; row < s_.table.n_rows && !stop; row += PANEL) {
            const int count = static_cast<int>(std::min<std::int64_t>(PANEL, s_.table.n_rows - row));
            tiles_.pack(s_.table, row, count, {place_.center, -place_.scale});
            for (int b = 0; b < n_blocks_; ++b) {
                tiles_.multiply(kernels_, blocks_[b].x, nullptr, parts_.data());
                for (int i = 0; i < count; ++i) {
                    std::copy_n(parts_.data() + i * ROWS, ROWS, products_.get() + ((row + i) * n_blocks_ + b) * ROWS);
                }
            }
        }
    }

    void measure_by_products(int p) {
        const int q = s_.n_directions(p), k = s_.n_neighbors, n_tiles = (q + TILE - 1) / TILE;
        lines_.resize(k);
        for (int f = 0; f < k; ++f) lines_[f] = s_.neighbors[static_cast<std::ptrdiff_t>(p) * k + f] * n_blocks_;
        tile_.assign(static_cast<std::size_t>(n_tiles) * k * TILE, Real(0));
        init_.assign(static_cast<std::size_t>(n_tiles) * TILE, Real(0));
        const Real* weights = static_cast<const Real*>(s_.coefficients.data) + s_.direction_ptr[p] * k;
        for (int t = 0; t < n_tiles; ++t) {
            Real* tile = tile_.data() + static_cast<std::size_t>(t) * k * TILE;
            const int width = std::min(TILE, q - t * TILE);
            for (int f = 0; f < k; ++f) {
                for (int j = 0; j < width; ++j) tile[f * TILE + j] = weights[f * q + t * TILE + j];
            }
        }
        std::copy_n(own_.data() + s_.direction_ptr[p], q, init_.begin());
        for (int b = 0; b < n_blocks_; ++b) {
            prefetch(p + 1, b);
            kernels_.distances_along(products_.get() + static_cast<std::size_t>(b) * ROWS, lines_.data(), k,
                                     tile_.data(), init_.data(), n_tiles, s_.metric, distances(p, b));
        }
    }

    // A landmark's neighbours lie anywhere in the table: their products are fetched while others are worked on.
    void prefetch(int p, int b) const {
        if (p >= s_.n_landmarks) return;
        const std::int32_t* neighbors = s_.neighbors + static_cast<std::ptrdiff_t>(p) * s_.n_neighbors;
        for (int f = 0; f < s_.n_neighbors; ++f) {
            const Real* line = products_.get() + (static_cast<std::size_t>(neighbors[f]) * n_blocks_ + b) * ROWS;
            for (int i = 0; i < ROWS; i += 64 / static_cast<int>(sizeof(Real))) __builtin_prefetch(line + i, 0, 2);
        }
    }

    void measure_by_directions(const std::atomic<bool>& stop) {
        for (int p = 0; p < s_.n_landmarks && !stop;) {
            int end = p + 1;
            const std::int64_t first = s_.direction_ptr[p];
            while (end < s_.n_landmarks && s_.direction_ptr[end + 1] - first <= PANEL) ++end;
            const int count = static_cast<int>(s_.direction_ptr[end] - first);
            tiles_.pack(s_.table, first, count, {});
            init_.assign(static_cast<std::size_t>(tiles_.n_tiles) * TILE, Real(0));
            std::copy_n(own_.data() + first, count, init_.begin());
            parts_.resize(std::max<std::size_t>(parts_.size(), init_.size() * ROWS));
            for (int b = 0; b < n_blocks_; ++b) {
                tiles_.multiply(kernels_, blocks_[b].x, init_.data(), parts_.data());
                for (int i = p; i < end; ++i) {
                    kernels_.distances_of_parts(parts_.data() + (s_.direction_ptr[i] - first) * ROWS,
                                                s_.n_directions(i), s_.metric, own_.data() + s_.direction_ptr[i],
                                                distances(i, b));
                }
            }
            p = end;
        }
    }

    // The nearest of iteration t's landmarks, and the rows' mean distances to all of them (Eq. 6).
    void choose(int t, int b, std::int64_t first, int n_rows) {
        const int r = s_.n_drawn(t);
        scores_.resize(static_cast<std::size_t>(r) * ROWS);
        const std::int32_t* drawn = s_.drawn + s_.drawn_ptr[t];
        for (int a = 0; a < r; ++a) std::copy_n(distances(drawn[a], b), ROWS, scores_.data() + a * ROWS);
        double sums[ROWS];
        alignas(64) const Real nothing[ROWS] = {};
        kernels_.sum_distances(scores_.data(), r, Form::plain, nothing, sums);
        kernels_.select(scores_.data(), r, output_.k, best_.data(), index_.data());
        const Real unscale = static_cast<Real>(1 / s_.unit());
        Real means[ROWS];
        for (int row = 0; row < ROWS; ++row) means[row] = static_cast<Real>(sums[row] / r) * unscale;
        output_.write(t, s_.drawn_ptr[t], first, n_rows, best_.data(), index_.data(), unscale, rule_, means);
    }
};

}  // namespace

template <class Real, class Column>
bool nearest_landmarks(const InstructionSet& set, const Matrix& x, const Subspaces& subspaces, const ValueRule& rule,
                       const SubspaceOptions& options, const Interrupted& interrupted, Column* columns, Real* values) {
    std::vector<Real> center;
    if (subspaces.center) center.assign(subspaces.center, subspaces.center + x.n_columns);
    const Placement<Real> place{subspaces.center ? center.data() : nullptr, static_cast<Real>(subspaces.scale)};
    const std::int64_t lines = x.n_columns + subspaces.n_landmarks + (subspaces.neighbors ? subspaces.table.n_rows : 0);
    const std::int64_t blocks = (x.n_rows + ROWS - 1) / ROWS;
    const std::int64_t share = (blocks + options.n_threads - 1) / options.n_threads;
    const std::int64_t budget =
        options.memory / options.n_threads / (lines * ROWS * static_cast<std::int64_t>(sizeof(Real)));
    const std::int64_t blocks_each = std::clamp<std::int64_t>(std::min(budget, share), 1, 64);
    return run_parallel((blocks + blocks_each - 1) / blocks_each, options.n_threads, interrupted, [&] {
        return SubspaceWorker<Real, Column>(kernels_of<Real>(set), x, subspaces, place, rule, options.n_nearest,
                                            blocks_each, columns, values);
    });
}

template <class Real>
bool project(const InstructionSet& set, const Matrix& x, const Matrix& directions, const double* center, double scale,
             int n_threads, const Interrupted& interrupted, Real* out) {
    const Kernels<Real>& kernels = kernels_of<Real>(set);
    std::vector<Real> centers;
    if (center) centers.assign(center, center + x.n_columns);
    const Placement<Real> place{center ? centers.data() : nullptr, static_cast<Real>(scale)};
    const int d = static_cast<int>(directions.n_rows);
    Tiles<Real> tiles;
    tiles.pack(directions, 0, d, NEGATIVE<Real>);
    return run_parallel((x.n_rows + ROWS - 1) / ROWS, n_threads, interrupted, [&] {
        std::shared_ptr<Real[]> rows(new (std::align_val_t(64)) Real[x.n_columns * ROWS](), AlignedDelete<Real>{});
        return [&, rows, block = Block<Real>(kernels),
                products = std::vector<Real>(static_cast<std::size_t>(tiles.n_tiles) * TILE * ROWS)](
                   std::int64_t b, const std::atomic<bool>&) mutable {
            const std::int64_t first = b * ROWS;
            const int count = static_cast<int>(std::min<std::int64_t>(ROWS, x.n_rows - first));
            block.x = rows.get();
            block.load(x, first, count, place, false);
            tiles.multiply(kernels, block.x, nullptr, products.data());
            block.clear(x, first, count);
            for (int i = 0; i < count; ++i) {
                for (int j = 0; j < d; ++j) out[(first + i) * d + j] = products[j * ROWS + i];
            }
        };
    });
}

#define INSTANTIATE(Real, Column)                                                                               \
    template bool nearest_landmarks<Real, Column>(const InstructionSet&, const Matrix&, const Subspaces&,       \
                                                  const ValueRule&, const SubspaceOptions&, const Interrupted&, \
                                                  Column*, Real*);
INSTANTIATE(float, std::int32_t)
INSTANTIATE(float, std::int64_t)
INSTANTIATE(double, std::int32_t)
INSTANTIATE(double, std::int64_t)
template bool project<float>(const InstructionSet&, const Matrix&, const Matrix&, const double*, double, int,
                             const Interrupted&, float*);
template bool project<double>(const InstructionSet&, const Matrix&, const Matrix&, const double*, double, int,
                              const Interrupted&, double*);

}  // namespace vicinal
