#include "latent.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace vicinal {

namespace {

constexpr std::int64_t triplets_per_chunk = 4096, nodes_per_chunk = 64, steps_per_look = 65536;
constexpr std::int64_t ahead = 8;  // triplets whose vectors are fetched in advance
constexpr int lanes = 16;

template <class Real>
const Real* row(const Real* vectors, std::int64_t width, std::int32_t node) {
    return vectors + static_cast<std::size_t>(node) * static_cast<std::size_t>(width);
}

// a . (b - c), summed in an order that no instruction set changes.
template <class Real>
Real margin_of(const Real* a, const Real* b, const Real* c, std::int64_t width) {
    Real sums[lanes] = {};
    std::int64_t d = 0;
    for (; d + lanes <= width; d += lanes) {
        for (int lane = 0; lane < lanes; ++lane) sums[lane] += a[d + lane] * (b[d + lane] - c[d + lane]);
    }
    for (int lane = 0; d < width; ++d, ++lane) sums[lane] += a[d] * (b[d] - c[d]);
    for (int half = lanes / 2; half; half /= 2) {
        for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    }
    return sums[0];
}

void add(double* __restrict out, double factor, const double* __restrict a, std::int64_t width) {
    for (std::int64_t d = 0; d < width; ++d) out[d] += factor * a[d];
}

void fetch(const float* vector, std::int64_t width) {
    for (std::int64_t d = 0; d < width; d += 16) __builtin_prefetch(vector + d, 1);
}

// A node's part in one step; `gradient` holds what the loss asks for.
void step_down(float* __restrict vector, const float* __restrict target, float decay, float pull, float step,
               float* __restrict square, float* __restrict gradient, std::int64_t width) {
    float sums[lanes] = {};
    if (pull != 0) {
        for (std::int64_t d = 0; d < width; ++d) gradient[d] += pull * (vector[d] - target[d]);
    }
    std::int64_t d = 0;
    for (; d + lanes <= width; d += lanes) {
        for (int lane = 0; lane < lanes; ++lane) {
            const float g = gradient[d + lane] += decay * vector[d + lane];
            sums[lane] += g * g;
        }
    }
    for (int lane = 0; d < width; ++d, ++lane) {
        const float g = gradient[d] += decay * vector[d];
        sums[lane] += g * g;
    }
    float total = 0;
    for (float sum : sums) total += sum;
    *square += total / static_cast<float>(width);
    if (!(*square > 0)) return;
    const float length = step / std::sqrt(*square);
    for (d = 0; d < width; ++d) vector[d] -= length * gradient[d];
}

}  // namespace

bool latent_losses(const double* vectors, std::int64_t width, const Triplets& triplets, MarginLoss loss, int n_threads,
                   const Interrupted& interrupted, double* losses, double* slopes) {
    const std::int64_t n_chunks = (triplets.count + triplets_per_chunk - 1) / triplets_per_chunk;
    return run_parallel(n_chunks, n_threads, interrupted, [&] {
        return [&](std::int64_t chunk, const std::atomic<bool>& stop) {
            const std::int64_t last = std::min(triplets.count, (chunk + 1) * triplets_per_chunk);
            for (std::int64_t t = chunk * triplets_per_chunk; t < last && !stop; ++t) {
                const std::int32_t* nodes = triplets.nodes + 3 * t;
                const double margin = margin_of(row(vectors, width, nodes[0]), row(vectors, width, nodes[1]),
                                                row(vectors, width, nodes[2]), width);
                losses[t] = value(loss, margin);
                slopes[t] = slope(loss, margin);
            }
        };
    });
}

bool latent_gradient(const double* vectors, std::int64_t n_nodes, std::int64_t width, const Triplets& triplets,
                     const double* slopes, const std::int64_t* places, const std::int64_t* starts, int n_threads,
                     const Interrupted& interrupted, double* gradient) {
    const std::int64_t n_chunks = (n_nodes + nodes_per_chunk - 1) / nodes_per_chunk;
    return run_parallel(n_chunks, n_threads, interrupted, [&] {
        return [&](std::int64_t chunk, const std::atomic<bool>& stop) {
            const std::int64_t last = std::min(n_nodes, (chunk + 1) * nodes_per_chunk);
            for (std::int64_t v = chunk * nodes_per_chunk; v < last && !stop; ++v) {
                double* own = gradient + static_cast<std::size_t>(v) * static_cast<std::size_t>(width);
                std::fill(own, own + width, 0.0);
                for (std::int64_t e = starts[v]; e < starts[v + 1]; ++e) {
                    const std::int32_t* nodes = triplets.nodes + places[e] / 3 * 3;
                    const double down = slopes[places[e] / 3];
                    if (down == 0) continue;
                    const std::int64_t end = places[e] % 3;
                    if (end == 0) add(own, -down, row(vectors, width, nodes[1]), width);
                    add(own, end == 1 ? -down : down, row(vectors, width, nodes[end == 0 ? 2 : 0]), width);
                }
            }
        };
    });
}

bool latent_steps(float* vectors, std::int64_t width, const Triplets& triplets, MarginLoss loss, const Pull& pull,
                  float step, float* squares, const Interrupted& interrupted) {
    const std::int32_t* all = triplets.nodes;
    std::vector<float> gradients(3 * static_cast<std::size_t>(width));
    float *first = gradients.data(), *second = first + width, *third = second + width;
    for (std::int64_t t = 0; t < triplets.count; ++t) {
        if (t % steps_per_look == 0 && interrupted(static_cast<double>(t) / static_cast<double>(triplets.count))) {
            return false;
        }
        if (t + ahead < triplets.count) {
            for (int end = 0; end < 3; ++end) fetch(row(vectors, width, all[3 * (t + ahead) + end]), width);
        }
        const std::int32_t* nodes = all + 3 * t;
        const float *a = row(vectors, width, nodes[0]), *b = row(vectors, width, nodes[1]),
                    *c = row(vectors, width, nodes[2]);
        const auto down = static_cast<float>(slope(loss, margin_of(a, b, c, width)));
        for (std::int64_t d = 0; d < width; ++d) {
            first[d] = down * (c[d] - b[d]);
            second[d] = -down * a[d];
            third[d] = down * a[d];
        }
        float* parts[] = {first, second, third};
        for (int end = 0; end < 3; ++end) {
            const std::int32_t v = nodes[end];
            float* own = vectors + static_cast<std::size_t>(v) * static_cast<std::size_t>(width);
            const float* target = pull.targets ? row(pull.targets, width, v) : own;
            step_down(own, target, pull.decay[v], pull.targets ? pull.pull[v] : 0.0f, step, squares + v, parts[end],
                      width);
        }
    }
    return true;
}

}  // namespace vicinal
