// Walks on a graph from both sides of a matrix between its nodes. Knows arrays only.
#pragma once
#include <cstdint>

#include "parallel.hpp"

namespace vicinal {

// A square CSR matrix of walks from each node.
template <class Index>
struct Walks {
    std::int64_t n;
    const float* shares;
    const Index* targets;
    const Index* starts;
};

// out = P D P' for a symmetric D; exactly symmetric, and the same on any number of threads and any machine.
// Returns false when interrupted.
template <class Index>
bool diffuse(const Walks<Index>& walks, const float* between, int n_threads, const Interrupted& interrupted,
             float* out);

}  // namespace vicinal
