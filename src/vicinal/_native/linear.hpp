// A linear model by dual coordinate descent: all outputs of a batch at once, one row after the other.
#pragma once
#include <cstdint>

#include "kernels.hpp"
#include "parallel.hpp"

namespace vicinal {

enum class LinearLoss { squared_hinge = 0, hinge = 1, logistic = 2, huber = 3 };

// Outputs are classes against the rest (labels), or numbers (targets). They are solved in batches of at most
// MOST_LANES, independent of each other; a thread takes a batch at a time.
struct LinearProblem {
    LinearRows rows;
    LinearLoss loss = LinearLoss::squared_hinge;
    double knee = 0;      // of huber
    double constant = 0;  // the value of one more column, whose weight is the intercept; 0: there is none
    int n_outputs = 0;
    const std::int32_t* labels = nullptr;   // per row, the output whose target is 1 (others: -1); classification
    const double* targets = nullptr;        // n_rows x n_outputs; regression
    const double* weights = nullptr;        // per row, what its loss weighs; rows of weight 0 do not count
    const double* positive = nullptr;       // per output, a factor for rows of its class
    const double* negative = nullptr;       // and one for all others
    const std::int32_t* outputs = nullptr;  // of the batches, one after the other
    const std::int32_t* batch_starts = nullptr;
    int n_batches = 0;
};

struct LinearLimits {
    double tol = 0;  // the gap between the objectives, as a share of the larger one, that is small enough
    int max_epochs = 0;
    std::uint64_t seed = 0;
};

// Per batch: both objectives in double precision, at the coefficients that are returned, and the passes over the rows.
struct LinearReport {
    double primal, dual, epochs;
};

// duals: n_rows x n_outputs, where to begin and where it ended. coefficients: n_outputs x (n_columns + 1), the
// intercept's weight last. Returns false when interrupted.
template <class Real>
bool solve_linear(const InstructionSet& set, const LinearProblem& problem, const LinearLimits& limits, int n_threads,
                  const Interrupted& interrupted, Real* duals, double* coefficients, LinearReport* reports);

}  // namespace vicinal
