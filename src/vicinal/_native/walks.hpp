// Random walks along the links of a network. Knows arrays only.
#pragma once
#include <cstdint>
#include <vector>

#include "draws.hpp"
#include "parallel.hpp"
#include "triplets.hpp"

namespace vicinal {

// Steps from a node to one that it is linked to: with equal chances or, where there are weights, in proportion to them.
template <class Index>
class Steps {
public:
    Steps(const Links<Index>& links, const double* weights, std::int64_t n_nodes) : links_(links) {
        if (!weights) return;
        tables_.resize(static_cast<std::size_t>(links.starts[n_nodes]));
        AliasMaker maker;
        for (std::int64_t i = 0; i < n_nodes; ++i) {
            const Index start = links.starts[i];
            maker.make(weights + start, degree(i), tables_.data() + start);
        }
    }

    std::uint32_t degree(std::int64_t node) const {
        return static_cast<std::uint32_t>(links_.starts[node + 1] - links_.starts[node]);
    }

    // From a node that has links.
    std::int32_t next(std::int64_t node, Stream& stream) const {
        const Index start = links_.starts[node];
        const std::uint32_t size = degree(node);
        const std::uint32_t place = tables_.empty() ? stream.below(size) : draw(stream, tables_.data() + start, size);
        return static_cast<std::int32_t>(links_.targets[start + place]);
    }

private:
    Links<Index> links_;
    std::vector<Alias> tables_;  // of each node, over its links
};

// Walk w begins at first[w], and its nodes are nodes[w * length ...]; a node without links has a walk of itself alone,
// and what follows it is -1. Walk w draws from stream `offset + w`. Returns false when interrupted.
template <class Index>
bool random_walks(const Links<Index>& links, const double* weights, std::int64_t n_nodes, const std::int32_t* first,
                  std::int64_t n_walks, std::int64_t length, std::uint64_t seed, std::uint64_t offset, int n_threads,
                  const Interrupted& interrupted, std::int32_t* nodes);

}  // namespace vicinal
