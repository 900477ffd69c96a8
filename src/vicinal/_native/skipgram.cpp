#include "skipgram.hpp"

#include <numeric>

#include "draws.hpp"

namespace vicinal {

namespace {

constexpr std::int64_t nodes_per_chunk = 1 << 16;  // whose steps are prepared while those of the chunk before are taken
constexpr std::int64_t shares_per_chunk = 8;       // that are prepared in parallel

struct Head {
    std::int32_t n_inputs, n_outputs;
    float rate;
};

// Steps that are prepared: of each its inputs, then its outputs.
struct Prepared {
    std::vector<Head> heads;
    std::vector<std::int32_t> nodes;
    std::vector<float> counts;

    void clear() {
        heads.clear();
        nodes.clear();
        counts.clear();
    }
};

// Nodes dealt to parts so that all weigh about the same, and what draws from each.
class Parts {
public:
    Parts(std::int64_t n_nodes, int n_parts, const double* noise)
        : of(static_cast<std::size_t>(n_nodes)), members_(static_cast<std::size_t>(n_parts)), tables_(members_.size()) {
        std::vector<std::int32_t> order(of.size());
        std::iota(order.begin(), order.end(), 0);
        if (n_parts > 1) {
            std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return noise[a] > noise[b]; });
        }
        for (std::size_t rank = 0; rank < order.size(); ++rank) {
            const std::size_t round = rank / members_.size(), place = rank % members_.size();
            const std::size_t part = round % 2 ? members_.size() - 1 - place : place;
            of[order[rank]] = static_cast<std::uint8_t>(part);
        }
        for (std::size_t node = 0; node < of.size(); ++node) members_[of[node]].push_back(static_cast<int>(node));
        AliasMaker maker;
        std::vector<double> weights;
        for (std::size_t part = 0; part < members_.size(); ++part) {
            const auto size = static_cast<std::uint32_t>(members_[part].size());
            weights.clear();
            for (const std::int32_t node : members_[part]) weights.push_back(noise[node]);
            tables_[part].resize(size);
            maker.make(weights.data(), size, tables_[part].data());
        }
    }

    std::int32_t draw_from(std::size_t part, Stream& stream) const {
        const auto& table = tables_[part];
        return members_[part][draw(stream, table.data(), static_cast<std::uint32_t>(table.size()))];
    }

    std::vector<std::uint8_t> of;

private:
    std::vector<std::vector<std::int32_t>> members_;
    std::vector<std::vector<Alias>> tables_;
};

// Turns walks into steps. A context that a centre has twice is one input that counts twice.
class Preparer {
public:
    Preparer(const Walks& walks, const Sampling& sampling, const Parts& parts)
        : walks_(walks), sampling_(sampling), parts_(parts), n_parts_(static_cast<std::size_t>(sampling.n_parts)),
          marks_(parts.of.size()), contexts_(n_parts_) {}

    // blocks[input part * n_parts + output part]
    void prepare(std::int64_t walk, Prepared* blocks) {
        const std::int32_t* nodes = walks_.nodes + walk * walks_.length;
        const std::int64_t length = std::find_if(nodes, nodes + walks_.length, [](auto n) { return n < 0; }) - nodes;
        if (length < 2) return;
        Stream stream(sampling_.seed, sampling_.offset + static_cast<std::uint64_t>(walk));
        const double share = static_cast<double>(walk) / static_cast<double>(walks_.count);
        rate_ = static_cast<float>(sampling_.first_rate + share * (sampling_.last_rate - sampling_.first_rate));
        for (std::int64_t t = 0; t < length; ++t) {
            const std::int64_t reach = 1 + stream.below(static_cast<std::uint32_t>(sampling_.window));
            const std::size_t part = parts_.of[nodes[t]];
            draw_outputs(nodes[t], part, stream);
            ++stamp_;
            for (std::int64_t u = std::max<std::int64_t>(0, t - reach); u < std::min(length, t + reach + 1); ++u) {
                if (u != t) add_context(nodes[u], part, blocks);
            }
            for (std::size_t p = 0; p < n_parts_; ++p) flush(p, blocks[p * n_parts_ + part]);
        }
    }

private:
    struct Mark {
        std::uint32_t stamp;
        std::int32_t place;
    };
    struct Contexts {
        std::int32_t nodes[MOST_INPUTS];
        float counts[MOST_INPUTS];
        std::int32_t size = 0;
    };

    void draw_outputs(std::int32_t centre, std::size_t part, Stream& stream) {
        outputs_.assign(1, centre);
        output_counts_.assign(1, 1.0f);
        for (int k = 0; k < sampling_.n_negatives; ++k) {
            const std::int32_t drawn = parts_.draw_from(part, stream);
            const auto at =
                static_cast<std::size_t>(std::find(outputs_.begin(), outputs_.end(), drawn) - outputs_.begin());
            if (at == 0) continue;  // the centre itself
            if (at == outputs_.size()) {
                outputs_.push_back(drawn);
                output_counts_.push_back(0);
            }
            output_counts_[at] += 1;
        }
    }

    void add_context(std::int32_t node, std::size_t part, Prepared* blocks) {
        const std::size_t own = parts_.of[node];
        Contexts& contexts = contexts_[own];
        Mark& mark = marks_[node];
        if (mark.stamp == stamp_ && mark.place < contexts.size && contexts.nodes[mark.place] == node) {
            contexts.counts[mark.place] += 1;
            return;
        }
        if (contexts.size == MOST_INPUTS) flush(own, blocks[own * n_parts_ + part]);
        mark = {stamp_, contexts.size};
        contexts.nodes[contexts.size] = node;
        contexts.counts[contexts.size++] = 1;
    }

    void flush(std::size_t own, Prepared& to) {
        Contexts& contexts = contexts_[own];
        if (!contexts.size) return;
        to.heads.push_back({contexts.size, static_cast<std::int32_t>(outputs_.size()), rate_});
        to.nodes.insert(to.nodes.end(), contexts.nodes, contexts.nodes + contexts.size);
        to.nodes.insert(to.nodes.end(), outputs_.begin(), outputs_.end());
        to.counts.insert(to.counts.end(), contexts.counts, contexts.counts + contexts.size);
        to.counts.insert(to.counts.end(), output_counts_.begin(), output_counts_.end());
        contexts.size = 0;
    }

    const Walks& walks_;
    const Sampling& sampling_;
    const Parts& parts_;
    const std::size_t n_parts_;
    std::vector<Mark> marks_;
    std::uint32_t stamp_ = 0;
    std::vector<Contexts> contexts_;
    std::vector<std::int32_t> outputs_;
    std::vector<float> output_counts_;
    float rate_ = 0;
};

void take(const InstructionSet& set, const NodeRows& rows, const Prepared& steps, const std::atomic<bool>& stop,
          std::vector<float>& room, std::vector<float*>& places) {
    const std::int32_t* nodes = steps.nodes.data();
    const float* counts = steps.counts.data();
    const auto width = static_cast<std::size_t>(rows.width);
    for (std::size_t s = 0; s < steps.heads.size() && !stop; ++s) {
        const Head& head = steps.heads[s];
        const auto size = static_cast<std::size_t>(head.n_inputs + head.n_outputs);
        if (s + 1 < steps.heads.size()) {
            const Head& next = steps.heads[s + 1];
            const std::int32_t* ahead = nodes + size;
            for (int i = 0; i < next.n_inputs; ++i) fetch_row(rows.inputs + ahead[i] * width, rows.width);
            ahead += next.n_inputs;
            for (int k = 0; k < next.n_outputs; ++k) fetch_row(rows.outputs + ahead[k] * width, rows.width);
        }
        for (int i = 0; i < head.n_inputs; ++i) places[i] = rows.inputs + nodes[i] * width;
        for (std::size_t e = head.n_inputs; e < size; ++e) places[e] = rows.outputs + nodes[e] * width;
        set.sampled_step({places.data(), counts, head.n_inputs, places.data() + head.n_inputs, counts + head.n_inputs,
                          head.n_outputs, rows.width, head.rate, room.data()});
        nodes += size;
        counts += size;
    }
}

}  // namespace

bool skip_gram(const InstructionSet& set, const NodeRows& rows, const Walks& walks, const Sampling& sampling,
               int n_threads, const Interrupted& interrupted) {
    const Parts parts(rows.n_nodes, sampling.n_parts, sampling.noise);
    const std::int64_t n_parts = sampling.n_parts, n_blocks = n_parts * n_parts;
    const std::int64_t walks_per_chunk = std::max<std::int64_t>(1, nodes_per_chunk / walks.length);
    const std::int64_t n_chunks = (walks.count + walks_per_chunk - 1) / walks_per_chunk;
    // Of two chunks, one that is prepared and one whose steps are taken: steps by share, then by block.
    std::vector<Prepared> steps[2];
    for (auto& chunk : steps) chunk.resize(static_cast<std::size_t>(shares_per_chunk * n_blocks));
    std::vector<Preparer> preparers;
    for (std::int64_t share = 0; share < shares_per_chunk; ++share) preparers.emplace_back(walks, sampling, parts);
    auto prepare = [&](std::int64_t chunk, std::int64_t share) {
        if (chunk == n_chunks) return;
        Prepared* blocks = steps[chunk % 2].data() + share * n_blocks;
        for (std::int64_t block = 0; block < n_blocks; ++block) blocks[block].clear();
        const std::int64_t first = chunk * walks_per_chunk, count = std::min(walks.count - first, walks_per_chunk);
        for (std::int64_t w = share * count / shares_per_chunk; w < (share + 1) * count / shares_per_chunk; ++w) {
            preparers[share].prepare(first + w, blocks);
        }
    };
    // In round r, inputs of part p meet outputs of part p + r; meanwhile a share of the next chunk is prepared.
    for (std::int64_t chunk = -1; chunk < n_chunks; ++chunk) {
        auto listen = [&](double) { return interrupted(static_cast<double>(chunk + 1) / (n_chunks + 1)); };
        if (chunk >= 0 && listen(0.0)) return false;  // a chunk may be done before its threads are looked after
        for (std::int64_t round = 0; round < n_parts; ++round) {
            const std::int64_t first_share = round * shares_per_chunk / n_parts;
            const std::int64_t n_shares = (round + 1) * shares_per_chunk / n_parts - first_share;
            const std::int64_t n_steps = chunk < 0 ? 0 : n_parts;
            const bool finished = run_parallel(n_steps + n_shares, n_threads, listen, [&] {
                std::vector<float> room(room_of(sampling.n_negatives + 1, rows.width));
                std::vector<float*> places(static_cast<std::size_t>(MOST_INPUTS + sampling.n_negatives + 1));
                return [&, room, places](std::int64_t item, const std::atomic<bool>& stop) mutable {
                    if (item >= n_steps) return prepare(chunk + 1, first_share + item - n_steps);
                    const std::int64_t block = item * n_parts + (item + round) % n_parts;
                    for (std::int64_t share = 0; share < shares_per_chunk; ++share) {
                        take(set, rows, steps[chunk % 2][share * n_blocks + block], stop, room, places);
                    }
                };
            });
            if (!finished) return false;
        }
    }
    return true;
}

}  // namespace vicinal
