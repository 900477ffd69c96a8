// Latent vectors of nodes and triplets (i, j, k), where u_i . u_j should exceed u_i . u_k: losses, gradients, and
// stochastic steps. Knows arrays only. One code for all instruction sets, so that all have the same answer.
#pragma once
#include <cstdint>

#include "margin_loss.hpp"
#include "parallel.hpp"

namespace vicinal {

struct Triplets {
    const std::int32_t* nodes;  // three for each
    std::int64_t count;
};

// The loss of every margin u_i . (u_j - u_k), and minus its derivative.
bool latent_losses(const double* vectors, std::int64_t width, const Triplets& triplets, MarginLoss loss, int n_threads,
                   const Interrupted& interrupted, double* losses, double* slopes);

// The gradient of the sum of all losses, from their slopes. `places` are the places of all nodes in the list of
// triplets, sorted by node; those of node v begin at starts[v].
bool latent_gradient(const double* vectors, std::int64_t n_nodes, std::int64_t width, const Triplets& triplets,
                     const double* slopes, const std::int64_t* places, const std::int64_t* starts, int n_threads,
                     const Interrupted& interrupted, double* gradient);

// What pulls the vector of a node at each of its steps: `decay` times the vector itself and `pull` times its distance
// from a target, each shared out over the steps of a pass.
struct Pull {
    const float* decay;
    const float* pull;
    const float* targets;
};

// One step for every triplet in turn, down its loss and its share of the pulls. Steps of a node have the length
// step / sqrt(sum of mean squares of its gradients so far), which is kept in `squares`.
bool latent_steps(float* vectors, std::int64_t width, const Triplets& triplets, MarginLoss loss, const Pull& pull,
                  float step, float* squares, const Interrupted& interrupted);

}  // namespace vicinal
