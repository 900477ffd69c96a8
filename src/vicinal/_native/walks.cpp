#include "walks.hpp"

namespace vicinal {

namespace {
constexpr std::int64_t walks_per_chunk = 512;
constexpr int abreast = 16;  // walks that go at once, so that none waits for the memory of another
}  // namespace

template <class Index>
bool random_walks(const Links<Index>& links, const double* weights, std::int64_t n_nodes, const std::int32_t* first,
                  std::int64_t n_walks, std::int64_t length, std::uint64_t seed, std::uint64_t offset, int n_threads,
                  const Interrupted& interrupted, std::int32_t* nodes) {
    const Steps<Index> steps(links, weights, n_nodes);
    auto go = [&](std::int64_t from, std::int64_t to) {
        std::vector<Stream> streams;
        for (std::int64_t w = from; w < to; ++w) {
            streams.emplace_back(seed, offset + static_cast<std::uint64_t>(w));
            std::fill(nodes + w * length, nodes + (w + 1) * length, -1);
            nodes[w * length] = first[w];
        }
        for (std::int64_t t = 1; t < length; ++t) {
            for (std::int64_t w = from; w < to; ++w) {
                const std::int32_t node = nodes[w * length + t - 1];
                if (node < 0 || steps.degree(node) == 0) continue;
                nodes[w * length + t] = steps.next(node, streams[static_cast<std::size_t>(w - from)]);
            }
        }
    };
    const std::int64_t n_chunks = (n_walks + walks_per_chunk - 1) / walks_per_chunk;
    return run_parallel(n_chunks, n_threads, interrupted, [&] {
        return [&](std::int64_t chunk, const std::atomic<bool>& stop) {
            const std::int64_t last = std::min(n_walks, (chunk + 1) * walks_per_chunk);
            for (std::int64_t w = chunk * walks_per_chunk; w < last && !stop; w += abreast) {
                go(w, std::min(last, w + abreast));
            }
        };
    });
}

#define WALKS(Index)                                                                                                \
    template bool random_walks(const Links<Index>&, const double*, std::int64_t, const std::int32_t*, std::int64_t, \
                               std::int64_t, std::uint64_t, std::uint64_t, int, const Interrupted&, std::int32_t*);
WALKS(std::int32_t)
WALKS(std::int64_t)

}  // namespace vicinal
