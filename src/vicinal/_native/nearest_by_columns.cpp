#include "nearest_rows.hpp"

namespace vicinal {
namespace {

constexpr std::int64_t STRIP_ROWS = 1 << 16;  // of y whose sums stay in the second cache
constexpr int SEGMENT = 1024;                 // of a strip that is looked through with one limit
constexpr std::int64_t CHUNK = 32;            // rows of x

double size_of(Nearness metric, double squares, double absolutes) {
    return metric == Nearness::manhattan ? absolutes : std::sqrt(squares);
}

// Some rows of y by columns. A score is init less a sum over the columns that both rows have.
struct Strip {
    std::int64_t first = 0;
    int count = 0;
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> rows;
    std::vector<float> values, init;
    std::vector<double> most;  // per segment, its largest row

    Strip(const NearestProblem& problem, std::int64_t begin, std::int64_t n)
        : first(begin), count(static_cast<int>(n)), starts(static_cast<std::size_t>(problem.y.n_columns) + 2), init(n),
          most((n + SEGMENT - 1) / SEGMENT) {
        const Matrix& y = problem.y;
        const RoughScores scores(problem.metric, problem.scale);
        for (int i = 0; i < count; ++i) {
            for_each_entry(y, first + i, [&](std::int64_t j, auto) { ++starts[j + 2]; });
        }
        for (std::size_t j = 2; j < starts.size(); ++j) starts[j] += starts[j - 1];
        rows.resize(static_cast<std::size_t>(starts.back()));
        values.resize(rows.size());
        for (int i = 0; i < count; ++i) {
            double squares = 0, absolutes = 0;
            const RowScale scale = problem.y_scale(first + i);
            for_each_entry(y, first + i, [&](std::int64_t j, auto v) {
                const float value = static_cast<float>(scale(static_cast<double>(v)));
                const std::int64_t at = starts[j + 1]++;
                rows[at] = i;
                values[at] = value;
                squares += static_cast<double>(value) * value;
                absolutes += std::abs(value);
            });
            const double size = size_of(problem.metric, squares, absolutes);
            init[i] = static_cast<float>(problem.metric == Nearness::manhattan ? size : scores.init(size));
            most[i / SEGMENT] = std::max(most[i / SEGMENT], size);
        }
    }
};

class ColumnWorker {
public:
    ColumnWorker(const Kernels<float>& kernels, const NearestProblem& problem, const Strip& strip, double* keys,
                 std::int64_t* rows)
        : kernels_(kernels), problem_(problem), strip_(strip), settler_(problem, keys, rows), sums_(strip.count),
          found_(SEGMENT) {}

    void operator()(std::int64_t chunk, const std::atomic<bool>& stop) {
        const std::int64_t last = std::min(problem_.x.n_rows, (chunk + 1) * CHUNK);
        for (std::int64_t i = chunk * CHUNK; i < last && !stop; ++i) search(i);
    }

private:
    const Kernels<float>& kernels_;
    const NearestProblem& problem_;
    const Strip& strip_;
    Settler settler_;
    Shortlist list_;
    std::vector<float> sums_;
    std::vector<std::int32_t> found_;
    double squares_ = 0, absolutes_ = 0;
    std::int64_t terms_ = 0;

    template <class Term>
    void add_up(std::int64_t i, Term term) {
        const RowScale scale = problem_.x_scale(i);
        squares_ = absolutes_ = 0;
        terms_ = 0;
        for_each_entry(problem_.x, i, [&](std::int64_t j, auto v) {
            const float value = static_cast<float>(scale(static_cast<double>(v)));
            for (std::int64_t e = strip_.starts[j]; e < strip_.starts[j + 1]; ++e) {
                sums_[strip_.rows[e]] += term(value, strip_.values[e]);
            }
            squares_ += static_cast<double>(value) * value;
            absolutes_ += std::abs(value);
            ++terms_;
        });
    }

    void search(std::int64_t i) {
        const bool manhattan = problem_.metric == Nearness::manhattan;
        std::fill(sums_.begin(), sums_.end(), 0.0f);
        if (manhattan) {
            add_up(i, [](float a, float b) { return std::abs(a) + std::abs(b) - std::abs(a - b); });
        } else {
            add_up(i, [](float a, float b) { return a * b; });
        }
        const double size = size_of(problem_.metric, squares_, absolutes_), offset = manhattan ? size : 0;
        // A term of absolutes takes three operations, and the whole has two parts that cancel.
        const std::int64_t steps = manhattan ? 3 * terms_ : terms_;
        const double rounding = RoughScores::rounding<float>(steps), vanishing = RoughScores::vanishing<float>(steps);
        settler_.start(list_, i, size);
        for (int start = 0; start < strip_.count; start += SEGMENT) {
            const int count = std::min(SEGMENT, strip_.count - start);
            const double error = settler_.scores().error(rounding, size, strip_.most[start / SEGMENT]) + vanishing;
            const float limit = RoughScores::limit_as<float>(list_.limit - offset + error);
            const float *init = strip_.init.data() + start, *sums = sums_.data() + start;
            const int n_found = kernels_.differences_below(init, sums, count, limit, found_.data());
            for (int e = 0; e < n_found; ++e) {
                const double score = offset + static_cast<double>(init[found_[e]] - sums[found_[e]]);
                settler_.add(list_, i, size, score, error, strip_.first + start + found_[e]);
            }
        }
        settler_.settle(list_, i, size);
    }
};

}  // namespace

bool nearest_by_columns(const InstructionSet& set, const NearestProblem& problem, int n_threads,
                        const Interrupted& interrupted, double* keys, std::int64_t* rows) {
    const std::int64_t n = problem.y.n_rows, step = problem.panel_rows ? problem.panel_rows : STRIP_ROWS;
    for (std::int64_t first = 0; first < n; first += step) {
        const Strip strip(problem, first, std::min(step, n - first));
        const auto listen = [&](double share) {
            return interrupted((static_cast<double>(first) + share * strip.count) / static_cast<double>(n));
        };
        const bool finished = run_parallel((problem.x.n_rows + CHUNK - 1) / CHUNK, n_threads, listen,
                                           [&] { return ColumnWorker(*set.f32, problem, strip, keys, rows); });
        if (!finished || (first + step < n && listen(1.0))) return false;  // also where each part is done at once
    }
    return true;
}

}  // namespace vicinal
