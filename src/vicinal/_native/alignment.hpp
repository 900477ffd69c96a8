// How well the Gaussian kernel of weighted CSR rows agrees with a graph between them. Knows arrays only.
#pragma once
#include "neighbors.hpp"

namespace vicinal {

// A symmetric graph by rows, centred: C_ij = weights_ij - means_i - means_j + mean. Its diagonal is not read.
template <class Index>
struct CentredGraph {
    const double* weights;
    const Index* targets;
    const Index* starts;
    const double* means;  // of each row
    double mean;
};

// With K_ij = exp(scale (product of rows i and j, with the bias of both)) and M_ij = C_ij K_ij, sums over pairs i < j:
// returned is that of M; received[i] is that of M with i in the pair; products[t] that of M_ij x_it x_jt, of columns
// whose weight is not 0 or, where `everywhere`, of all. Columns must be sorted by rows. Results do not depend on the
// number of threads. Returns false when interrupted.
template <class Index, class Node>
bool align(const InstructionSet& set, const WeightedRows<Index>& x, const CentredGraph<Node>& graph, double scale,
           bool everywhere, int n_threads, const Interrupted& interrupted, double& total, double* received,
           double* products);

}  // namespace vicinal
