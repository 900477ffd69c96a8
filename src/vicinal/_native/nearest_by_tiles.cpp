#include <memory>

#include "nearest_rows.hpp"
#include "tiles.hpp"

namespace vicinal {
namespace {

constexpr int PANEL = 8 * TILE;            // candidates that stay in the nearest cache while blocks of rows pass
constexpr std::int64_t MOST_BLOCKS = 8;    // of rows that a thread holds
constexpr std::int64_t MEMORY = 64 << 20;  // for panels

template <class Real>
using Aligned = std::unique_ptr<Real[], AlignedDelete<Real>>;

template <class Real>
Aligned<Real> zeros(std::size_t size) {
    return Aligned<Real>(new (std::align_val_t(64)) Real[size]());
}

// Writes a row as rough scores take it, entries `stride` apart where zeros are, and returns its size.
template <class Real>
double place_row(const NearestProblem& problem, const Matrix& x, std::int64_t row, const RowScale& scale, Real* out,
                 int stride) {
    double squares = 0, absolutes = 0;
    for_each_entry(x, row, [&](std::int64_t j, auto v) {
        const double placed = scale(static_cast<double>(v)) - (problem.center ? problem.center[j] : 0.0);
        const Real entry = static_cast<Real>(placed);
        out[j * stride] = entry;
        squares += static_cast<double>(entry) * entry;
        absolutes += std::abs(static_cast<double>(entry));
    });
    return problem.metric == Nearness::manhattan ? absolutes : std::sqrt(squares);
}

// Some rows of y in tiles.
template <class Real>
struct Panels {
    std::int64_t first = 0, count = 0;
    Aligned<Real> tiles;
    std::vector<Real> init;
    std::vector<double> most;  // per panel, its largest row

    int n_panels() const { return static_cast<int>((count + PANEL - 1) / PANEL); }
    int n_tiles(int p) const {
        return static_cast<int>((std::min<std::int64_t>(PANEL, count - p * PANEL) + TILE - 1) / TILE);
    }

    bool fill(const NearestProblem& problem, int n_threads) {
        const std::int64_t m = problem.y.n_columns;
        const RoughScores scores(problem.metric, problem.scale);
        tiles = zeros<Real>(static_cast<std::size_t>(n_panels()) * PANEL * m);
        init.assign(static_cast<std::size_t>(n_panels()) * PANEL, std::numeric_limits<Real>::infinity());
        most.assign(n_panels(), 0.0);
        return run_parallel(
            n_panels(), n_threads, [](double) { return false; },
            [&] {
                return [&](std::int64_t p, const std::atomic<bool>&) {
                    for (std::int64_t i = p * PANEL; i < std::min(count, (p + 1) * PANEL); ++i) {
                        Real* tile = tiles.get() + i / TILE * TILE * m + i % TILE;
                        const double size =
                            place_row(problem, problem.y, first + i, problem.y_scale(first + i), tile, TILE);
                        init[i] = static_cast<Real>(scores.init(size));
                        most[p] = std::max(most[p], size);
                    }
                };
            });
    }
};

// One thread's work: some blocks of rows against all panels.
template <class Real>
class TileWorker {
public:
    TileWorker(const Kernels<Real>& kernels, const NearestProblem& problem, const Panels<Real>& panels,
               std::int64_t blocks_each, double* keys, std::int64_t* rows)
        : problem_(problem), panels_(panels), settler_(problem, keys, rows), blocks_each_(blocks_each),
          m_(static_cast<int>(problem.x.n_columns)), lists_(blocks_each * ROWS), sizes_(blocks_each * ROWS),
          found_(PANEL * ROWS) {
        x_ = zeros<Real>(static_cast<std::size_t>(blocks_each) * ROWS * m_);
        find_ = problem.metric == Nearness::manhattan ? kernels.candidates_by_absolutes : kernels.candidates_by_dots;
    }

    void operator()(std::int64_t chunk, const std::atomic<bool>& stop) {
        const std::int64_t first = chunk * blocks_each_ * ROWS;
        const int count = static_cast<int>(std::min(problem_.x.n_rows - first, blocks_each_ * ROWS));
        if (problem_.x.sparse) std::fill_n(x_.get(), blocks_each_ * ROWS * m_, Real(0));
        for (int i = 0; i < count; ++i) {
            Real* place = x_.get() + static_cast<std::ptrdiff_t>(i / ROWS) * ROWS * m_ + i % ROWS;
            sizes_[i] = place_row(problem_, problem_.x, first + i, problem_.x_scale(first + i), place, ROWS);
            settler_.start(lists_[i], first + i, sizes_[i]);
        }
        for (int p = 0; p < panels_.n_panels() && !stop; ++p) {
            for (int start = 0; start < count; start += ROWS) search(p, first, start, std::min(ROWS, count - start));
        }
        for (int i = 0; i < count && !stop; ++i) settler_.settle(lists_[i], first + i, sizes_[i]);
    }

private:
    const NearestProblem& problem_;
    const Panels<Real>& panels_;
    Settler settler_;
    const std::int64_t blocks_each_;
    const int m_;
    std::vector<Shortlist> lists_;
    std::vector<double> sizes_;
    std::vector<Candidate<Real>> found_;
    Aligned<Real> x_;
    decltype(Kernels<Real>::candidates_by_dots) find_;

    void search(int p, std::int64_t first, int start, int count) {
        const RoughScores& scores = settler_.scores();
        const double rounding = RoughScores::rounding<Real>(m_), vanishing = RoughScores::vanishing<Real>(m_);
        double errors[ROWS];
        alignas(64) Real limits[ROWS];
        for (int i = 0; i < ROWS; ++i) {
            limits[i] = -std::numeric_limits<Real>::infinity();
            if (i >= count) continue;
            errors[i] = scores.error(rounding, sizes_[start + i], panels_.most[p]) + vanishing;
            limits[i] = RoughScores::limit_as<Real>(lists_[start + i].limit + errors[i]);
        }
        const std::int64_t begin = static_cast<std::int64_t>(p) * PANEL;
        const int n_found =
            find_(x_.get() + static_cast<std::ptrdiff_t>(start) * m_, m_, panels_.tiles.get() + begin * m_,
                  panels_.init.data() + begin, panels_.n_tiles(p), limits, found_.data());
        for (int e = 0; e < n_found; ++e) {
            const Candidate<Real>& one = found_[e];
            if (begin + one.candidate >= panels_.count) continue;
            const int i = start + one.row;
            settler_.add(lists_[i], first + i, sizes_[i], one.score, errors[one.row],
                         panels_.first + begin + one.candidate);
        }
    }
};

}  // namespace

template <class Real>
bool nearest_by_tiles(const InstructionSet& set, const NearestProblem& problem, int n_threads,
                      const Interrupted& interrupted, double* keys, std::int64_t* rows) {
    const std::int64_t n = problem.y.n_rows, m = problem.y.n_columns;
    std::int64_t step = problem.panel_rows;
    if (step == 0)
        step = std::max<std::int64_t>(PANEL, MEMORY / static_cast<std::int64_t>(sizeof(Real)) / m / PANEL * PANEL);
    const std::int64_t blocks = (problem.x.n_rows + ROWS - 1) / ROWS;
    const std::int64_t blocks_each = std::clamp<std::int64_t>(blocks / n_threads, 1, MOST_BLOCKS);
    for (std::int64_t first = 0; first < n; first += step) {
        Panels<Real> panels;
        panels.first = first;
        panels.count = std::min(step, n - first);
        panels.fill(problem, n_threads);
        const auto listen = [&](double share) {
            return interrupted((static_cast<double>(first) + share * static_cast<double>(panels.count)) /
                               static_cast<double>(n));
        };
        const bool finished = run_parallel((blocks + blocks_each - 1) / blocks_each, n_threads, listen, [&] {
            return TileWorker<Real>(kernels_of<Real>(set), problem, panels, blocks_each, keys, rows);
        });
        if (!finished || (first + step < n && listen(1.0))) return false;  // also where each part is done at once
    }
    return true;
}

template bool nearest_by_tiles<float>(const InstructionSet&, const NearestProblem&, int, const Interrupted&, double*,
                                      std::int64_t*);
template bool nearest_by_tiles<double>(const InstructionSet&, const NearestProblem&, int, const Interrupted&, double*,
                                       std::int64_t*);

}  // namespace vicinal
