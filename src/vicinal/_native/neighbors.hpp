// Products of CSR rows with each other, a row at a time: all of them, or what a softmax makes of them.
// Knows arrays only.
#pragma once
#include <cstdint>

#include "kernels.hpp"
#include "parallel.hpp"

namespace vicinal {

// A CSR matrix by rows and by columns, and a weight per column: the product of rows i and j is
// sum_t weights[t] x_it x_jt + bias[j].
template <class Index>
struct WeightedRows {
    std::int64_t n_rows, n_columns;
    const double* row_values;
    const Index* row_columns;
    const Index* row_starts;
    const double* column_values;
    const Index* column_rows;
    const Index* column_starts;
    const double* weights;
    const double* bias = nullptr;
};

// Sums over the rows i of softmax distributions q_i over other rows j, where log q_ij is scale times the product of i
// and j, up to a number per row.
struct SoftmaxSums {
    double log_totals = 0;  // of the logarithms of the denominators
    double entropies = 0;   // in nats
};

// Other rows in place of all: `count` of them are listed for every row. Each of the last n_sampled has been drawn to
// stand for `share` rows.
struct Candidates {
    const std::int32_t* rows = nullptr;
    std::int64_t count = 0, n_sampled = 0;
    double share = 1;
};

// The others are all rows but i or, where candidates.rows is given, those that it lists for i.
// gradient (a number per column) is that of log_totals by the weights, and received[j] is sum_i q_ij; both may be null.
// Results do not depend on the number of threads. Returns false when interrupted.
template <class Index>
bool softmax_sums(const InstructionSet& set, const WeightedRows<Index>& x, double scale, const Candidates& candidates,
                  int n_threads, const Interrupted& interrupted, SoftmaxSums& sums, double* gradient, double* received);

// All products, n_rows x n_rows.
template <class Index>
bool all_products(const WeightedRows<Index>& x, int n_threads, const Interrupted& interrupted, double* out);

}  // namespace vicinal
