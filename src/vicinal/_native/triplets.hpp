// Triplets (i, j, k) of CSR rows, where i should be more like j than like k: stochastic steps, sums over linked pairs.
// Knows arrays only.
#pragma once
#include <cstdint>

#include "parallel.hpp"

namespace vicinal {

template <class Index>
struct SparseView {
    std::int64_t n_rows, n_columns;
    const double* values;  // null where all are 1
    const Index* columns;
    const Index* starts;
};

// Which rows are linked, sorted within each row.
template <class Index>
struct Links {
    const Index* targets;
    const Index* starts;
};

// The loss of a margin s: -s, log(1 + exp(-s)) or max(0, 1 - s).
enum class MarginLoss { identity, logistic, hinge };

// The weights are scale * direction. Their sum over all steps, each counted as often as the step's number where
// `linear` and once otherwise, is passed * direction - correction: a step touches the columns of its rows only.
struct Descent {
    double* direction;
    double* correction;
    double scale = 1, passed = 0;
    std::int64_t steps = 0;
    double penalty = 0, first_step = 1;
    bool linear = false;
};

// One step per triplet, down the loss of w . (x_i * (x_j - x_k)) and the penalty: of length 1 / (penalty t) at step t
// or, without a penalty, first_step / sqrt(t).
template <class Index>
void triplet_steps(const SparseView<Index>& x, const std::int32_t* triplets, std::int64_t count, MarginLoss loss,
                   Descent& descent);

// sums[p] = sum of x_ip x_jp over all links from i to j. The result does not depend on the number of threads.
template <class Index, class Node>
bool link_products(const SparseView<Index>& x, const Links<Node>& links, int n_threads, const Interrupted& interrupted,
                   double* sums);

template <class Node>
void are_linked(const Links<Node>& links, const std::int32_t* first, const std::int32_t* second, std::int64_t count,
                std::uint8_t* out);

}  // namespace vicinal
