// A network of two rows, x and x', whose first layer adds what each of them says. Knows arrays only.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels.hpp"
#include "parallel.hpp"

namespace vicinal {

// Weights of a layer, n_in x n_out, and its biases.
struct DenseLayer {
    int n_in, n_out;
    const double *weights, *biases;
};

// What n rows say to the first layer when they are x (`left`, biases included) and when they are x': n x n_units each.
struct PairRows {
    std::int64_t n;
    const float *left, *right;
};

// out[i * columns.n + j] = (K(row i, column j) + K(column j, row i)) / 2, K the tanh of the last layer's only unit; all
// layers are tanh. Returns false when interrupted.
bool pair_kernel(const InstructionSet& set, const PairRows& rows, const PairRows& columns,
                 const std::vector<DenseLayer>& layers, int n_threads, const Interrupted& interrupted, float* out);

}  // namespace vicinal
