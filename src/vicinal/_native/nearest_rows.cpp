#include "nearest_rows.hpp"

#include <cmath>

namespace vicinal {
namespace {

constexpr double SCATTER_COST = 20;  // of an entry that both rows have, in operations of dense tiles

bool is_single(Number type) {
    return type == Number::f32 || type == Number::i8 || type == Number::u8 || type == Number::i16 ||
           type == Number::u16;
}

std::vector<double> entries_per_column(const Matrix& x) {
    std::vector<double> counts(static_cast<std::size_t>(x.n_columns));
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        for_each_entry(x, i, [&](std::int64_t j, auto) { ++counts[j]; });
    }
    return counts;
}

// Whether a walk through the columns of CSR rows is less work than products of the written-out rows.
bool is_thin(const Matrix& x, const Matrix& y) {
    const std::vector<double> in_x = entries_per_column(x), in_y = entries_per_column(y);
    double common = 0;
    for (std::size_t j = 0; j < in_x.size(); ++j) common += in_x[j] * in_y[j];
    return common * SCATTER_COST < static_cast<double>(x.n_rows) * y.n_rows * x.n_columns;
}

bool find_scales(NearestProblem& problem, int n_threads, const Interrupted& interrupted) {
    if (!is_angular(problem.metric)) return true;
    const auto per_row = [&](const Matrix& x, std::vector<RowScale>& scales) {
        scales.resize(static_cast<std::size_t>(x.n_rows));
        constexpr std::int64_t ROWS_EACH = 256;
        return run_parallel((x.n_rows + ROWS_EACH - 1) / ROWS_EACH, n_threads, interrupted, [&] {
            return [&](std::int64_t part, const std::atomic<bool>&) {
                const std::int64_t last = std::min(x.n_rows, (part + 1) * ROWS_EACH);
                for (std::int64_t i = part * ROWS_EACH; i < last; ++i) scales[i] = scale_of_row(x, i, problem.metric);
            };
        });
    };
    if (!per_row(problem.x, problem.x_scales)) return false;
    if (problem.metric == Nearness::cosine) return per_row(problem.y, problem.y_scales);
    problem.y_scales.assign(static_cast<std::size_t>(problem.y.n_rows), {common_power(problem.y), 1});
    return true;
}

}  // namespace

bool nearest_rows(const InstructionSet& set, NearestProblem& problem, int n_threads, const Interrupted& interrupted,
                  double* distances, std::int64_t* rows) {
    const std::int64_t n = problem.x.n_rows, k = problem.k;
    for (std::int64_t i = 0; i < n; ++i) NearestSoFar{distances + i * k, rows + i * k, k}.clear();
    if (!find_scales(problem, n_threads, interrupted)) return false;
    auto search =
        is_single(problem.x.type) && is_single(problem.y.type) ? nearest_by_tiles<float> : nearest_by_tiles<double>;
    if (problem.x.sparse && is_thin(problem.x, problem.y)) search = nearest_by_columns;
    if (!search(set, problem, n_threads, interrupted, distances, rows)) return false;
    if (problem.metric != Nearness::inner) return true;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t e = i * k; e < (i + 1) * k; ++e) {
            distances[e] = -distances[e] / problem.x_scales[i].power / problem.y_scales[0].power + 0.0;
        }
    }
    return true;
}

}  // namespace vicinal
