#include "diffusion.hpp"

#include <algorithm>
#include <vector>

namespace vicinal {
namespace {

constexpr std::int64_t BLOCK = 16;  // rows of P D that are held at a time, side by side

template <class Index>
class Diffusion {
public:
    Diffusion(const Walks<Index>& walks, const float* between, float* out)
        : walks_(walks), between_(between), out_(out), row_(static_cast<std::size_t>(walks.n)),
          held_(static_cast<std::size_t>(walks.n * BLOCK)) {}

    void operator()(std::int64_t item, const std::atomic<bool>& stop) {
        const std::int64_t first = item * BLOCK, last = std::min(first + BLOCK, walks_.n);
        for (std::int64_t i = first; i < last; ++i) {
            if (stop) return;
            hold(i, i - first);
        }
        for (std::int64_t j = first; j < walks_.n && !stop; ++j) {
            float sums[BLOCK] = {};
            for (Index e = walks_.starts[j]; e < walks_.starts[j + 1]; ++e) {
                const float share = walks_.shares[e];
                const float* held = held_.data() + static_cast<std::int64_t>(walks_.targets[e]) * BLOCK;
                for (std::int64_t b = 0; b < BLOCK; ++b) sums[b] += share * held[b];
            }
            for (std::int64_t i = first; i < std::min(last, j + 1); ++i) {
                out_[i * walks_.n + j] = out_[j * walks_.n + i] = sums[i - first];
            }
        }
    }

private:
    const Walks<Index>& walks_;
    const float* between_;
    float* out_;
    std::vector<float> row_;
    std::vector<float> held_;  // BLOCK numbers per node

    void hold(std::int64_t i, std::int64_t place) {
        std::fill(row_.begin(), row_.end(), 0.0f);
        float* row = row_.data();
        for (Index e = walks_.starts[i]; e < walks_.starts[i + 1]; ++e) {
            const float share = walks_.shares[e];
            const float* source = between_ + static_cast<std::int64_t>(walks_.targets[e]) * walks_.n;
            for (std::int64_t l = 0; l < walks_.n; ++l) row[l] += share * source[l];
        }
        for (std::int64_t l = 0; l < walks_.n; ++l) held_[l * BLOCK + place] = row[l];
    }
};

}  // namespace

template <class Index>
bool diffuse(const Walks<Index>& walks, const float* between, int n_threads, const Interrupted& interrupted,
             float* out) {
    return run_parallel((walks.n + BLOCK - 1) / BLOCK, n_threads, interrupted,
                        [&] { return Diffusion<Index>(walks, between, out); });
}

template bool diffuse(const Walks<std::int32_t>&, const float*, int, const Interrupted&, float*);
template bool diffuse(const Walks<std::int64_t>&, const float*, int, const Interrupted&, float*);

}  // namespace vicinal
