// Triplets (i, j, k) of CSR rows, where i should be more like j than like k: stochastic steps, sums over linked pairs.
// Knows arrays only.
#pragma once
#include <cstdint>
#include <vector>

#include "margin_loss.hpp"
#include "parallel.hpp"

namespace vicinal {

template <class Index_, class Value_>
struct SparseView {
    using Index = Index_;
    using Value = Value_;
    std::int64_t n_rows, n_columns;
    const Value* values;  // null where all are 1
    const Index* columns;
    const Index* starts;
};

// Which rows are linked, sorted within each row.
template <class Index>
struct Links {
    const Index* targets;
    const Index* starts;
};

// Weights of columns that go down the loss of triplets and penalty / 2 times their squared length. They are
// scale * direction. Their sum over all steps, each counted as often as the step's number where there is a penalty and
// once otherwise, is passed * direction - correction: a step touches the columns of its rows only.
struct Descent {
    double* direction;
    double* correction;
    double* scale;
    double* passed;
    double* steps;
    double penalty;
};

// One step per triplet for each of several descents, down the loss of w . (x_i * (x_j - x_k)): of length
// 1 / (penalty t) at step t or, without a penalty, first_step / sqrt(t).
template <class Rows>
void triplet_steps(const Rows& x, const std::int32_t* triplets, std::int64_t count, MarginLoss loss, double first_step,
                   const std::vector<Descent>& descents);

// The margin w . (x_i * (x_j - x_k)) of every triplet for each of n_weights vectors w, and the squared length of
// x_i * (x_j - x_k); `margins` has a row per triplet.
template <class Rows>
bool triplet_margins(const Rows& x, const std::int32_t* triplets, std::int64_t count, const double* weights,
                     std::int64_t n_weights, int n_threads, const Interrupted& interrupted, double* margins,
                     double* squares);

// sums[p] = sum of x_ip x_jp over all links from i to j. The result does not depend on the number of threads.
template <class Rows, class Node>
bool link_products(const Rows& x, const Links<Node>& links, int n_threads, const Interrupted& interrupted,
                   double* sums);

template <class Node>
void are_linked(const Links<Node>& links, const std::int32_t* first, const std::int32_t* second, std::int64_t count,
                std::uint8_t* out);

}  // namespace vicinal
