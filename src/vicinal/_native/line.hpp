// LINE: rows of nodes by which linked nodes are told from others, by steps over links that are drawn at random.
// Knows arrays only.
#pragma once
#include "skipgram.hpp"
#include "walks.hpp"

namespace vicinal {

struct LinkSampling {
    std::int64_t n_samples;
    int n_negatives;
    double first_rate, last_rate;  // the rate falls linearly from the first sample to the last
    std::uint64_t seed;
};

// Each of several rows of nodes takes n_samples steps of its own: down the loss of a link, drawn in proportion to its
// weight, and of negatives, drawn in proportion to the sums of weights of a node's links to the power 0.75. Where
// inputs and outputs are the same rows, this is first order proximity; where they are not, second order. Every row is
// one thread's work. Returns false when interrupted.
template <class Index>
bool link_steps(const InstructionSet& set, const std::vector<NodeRows>& rows, const Links<Index>& links,
                const double* weights, const LinkSampling& sampling, int n_threads, const Interrupted& interrupted);

}  // namespace vicinal
