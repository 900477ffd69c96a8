// Skip-gram with negative sampling over walks: rows of nodes that tell which others are near in walks.
// Knows arrays only.
#pragma once
#include <cstdint>

#include "kernels.hpp"
#include "parallel.hpp"

namespace vicinal {

// A row of `width` numbers, a multiple of ROW_STEP, per node: as one that is near, and as one that others are near to.
struct NodeRows {
    float *inputs, *outputs;
    std::int64_t n_nodes;
    int width;
};

inline void fetch_row(const float* row, int width) {
    for (int d = 0; d < width; d += 16) __builtin_prefetch(row + d, 1);
}

// Nodes of walk w are nodes[w * length ...], up to the first that is negative.
struct Walks {
    const std::int32_t* nodes;
    std::int64_t count, length;
};

struct Sampling {
    int window;                    // a centre's distance to its contexts is at most a number drawn from 1 ... window
    int n_negatives;               // per centre, for all of its contexts
    const double* noise;           // a weight per node, by which negatives are drawn
    double first_rate, last_rate;  // the rate falls linearly from the first walk to the last
    std::uint64_t seed;
    std::uint64_t offset;  // walk w draws from stream `offset + w`
    int n_parts;           // into which nodes are dealt: so many threads can work at once
};

// One step per centre and part, down the loss of its contexts. Inputs of one part and outputs of one part are one
// thread's work, and negatives are drawn from the part of the centre, so that the result depends on the number of
// parts, not on that of threads. Returns false when interrupted.
bool skip_gram(const InstructionSet& set, const NodeRows& rows, const Walks& walks, const Sampling& sampling,
               int n_threads, const Interrupted& interrupted);

}  // namespace vicinal
