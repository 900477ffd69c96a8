// A linear model by dual coordinate descent: all outputs of a batch at once, one row after the other.
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels.hpp"
#include "parallel.hpp"

namespace vicinal {

// The processor does not guess which row comes next: brings the beginning of its entries into the cache.
inline void prefetch_row(const LinearRows& x, std::int64_t row) {
    const auto ahead = [](const void* start, std::int64_t n_bytes) {
        for (std::int64_t b = 0; b < std::min<std::int64_t>(n_bytes, 512); b += 64) {
            __builtin_prefetch(static_cast<const char*>(start) + b);
        }
    };
    if (x.kind == RowKind::csr) {
        const std::int64_t start = x.starts[row], count = x.starts[row + 1] - start, size = x.doubles ? 8 : 4;
        ahead(static_cast<const char*>(x.values) + start * size, count * size);
        ahead(x.columns + start, count * 4);
    } else if (x.kind == RowKind::coded) {
        const std::int64_t groups = x.runs[0] + x.runs[1] + x.runs[2];
        ahead(x.bytes + row * x.runs[0], x.runs[0]);
        ahead(x.pairs + row * x.runs[1], x.runs[1] * 2);
        if (x.values) ahead(static_cast<const char*>(x.values) + row * groups, groups);
    }
}

enum class LinearLoss { squared_hinge = 0, hinge = 1, logistic = 2, huber = 3 };

// Outputs are classes against the rest (labels), or numbers (targets). They are solved in batches of at most
// MOST_LANES, independent of each other; a thread takes a batch at a time.
struct LinearProblem {
    LinearRows rows;
    LinearLoss loss = LinearLoss::squared_hinge;
    double knee = 0;      // of huber
    double constant = 0;  // the value of one more column, whose weight is the intercept; 0: there is none
    double shrink = 0;    // what a weight's absolute value costs beside half its square; the intercept's costs nothing
    int n_outputs = 0;
    const std::int32_t* labels = nullptr;   // per row, the output whose target is 1 (others: -1); classification
    const double* targets = nullptr;        // n_rows x n_outputs; regression
    const double* weights = nullptr;        // per row, what its loss weighs; rows of weight 0 do not count
    const double* positive = nullptr;       // per output, a factor for rows of its class
    const double* negative = nullptr;       // and one for all others
    const double* base = nullptr;           // n_outputs x (n_columns + 1): sums of rows that were here before, or none
    const std::int32_t* outputs = nullptr;  // of the batches, one after the other
    const std::int32_t* batch_starts = nullptr;
    int n_batches = 0;
};

struct LinearLimits {
    double tol = 0;  // the gap between the objectives, as a share of the larger one, that is small enough
    int max_epochs = 0;
    std::uint64_t seed = 0;
};

// Per batch: both objectives in double precision, at the weights of the sums that are returned, and the passes over the
// rows. With a base they are those of the step away from it.
struct LinearReport {
    double primal, dual, epochs;
};

// duals: n_rows x n_outputs, where to begin and where it ended. sums: n_outputs x (n_columns + 1), of the duals times
// their rows, on top of the base, the intercept's last; shrunk, they are the weights. Returns false when interrupted.
template <class Real>
bool solve_linear(const InstructionSet& set, const LinearProblem& problem, const LinearLimits& limits, int n_threads,
                  const Interrupted& interrupted, Real* duals, double* sums, LinearReport* reports);

}  // namespace vicinal
