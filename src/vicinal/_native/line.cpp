#include "line.hpp"

#include <cmath>

namespace vicinal {

namespace {

constexpr std::size_t ahead = 4;  // samples whose rows are fetched in advance

struct Sample {
    std::int32_t from;
    std::vector<std::int32_t> to;  // the node that `from` is linked to, and negatives
    std::vector<float> counts;
};

template <class Index>
class Sampler {
public:
    Sampler(const Links<Index>& links, const double* weights, std::int64_t n_nodes)
        : steps_(links, weights, n_nodes), sources_(static_cast<std::size_t>(n_nodes)), noise_(sources_.size()) {
        std::vector<double> sums(sources_.size());
        for (std::size_t i = 0; i < sums.size(); ++i) {
            for (Index e = links.starts[i]; e < links.starts[i + 1]; ++e) sums[i] += weights ? weights[e] : 1.0;
        }
        AliasMaker maker;
        maker.make(sums.data(), size(), sources_.data());
        for (double& sum : sums) sum = std::pow(sum, 0.75);
        maker.make(sums.data(), size(), noise_.data());
    }

    // A negative is neither of the two nodes of the link; one that is drawn twice counts twice.
    void draw_sample(Stream& stream, int n_negatives, Sample& sample) const {
        sample.from = static_cast<std::int32_t>(draw(stream, sources_.data(), size()));
        sample.to.assign(1, steps_.next(sample.from, stream));
        sample.counts.assign(1, 1.0f);
        for (int k = 0; k < n_negatives; ++k) {
            const auto drawn = static_cast<std::int32_t>(draw(stream, noise_.data(), size()));
            std::size_t at = 0;
            while (at < sample.to.size() && sample.to[at] != drawn) ++at;
            if (at == 0 || drawn == sample.from) continue;
            if (at == sample.to.size()) {
                sample.to.push_back(drawn);
                sample.counts.push_back(0);
            }
            sample.counts[at] += 1;
        }
    }

private:
    std::uint32_t size() const { return static_cast<std::uint32_t>(sources_.size()); }

    Steps<Index> steps_;
    std::vector<Alias> sources_, noise_;
};

template <class Index>
void descend(const InstructionSet& set, const NodeRows& rows, const Sampler<Index>& sampler,
             const LinkSampling& sampling, std::uint64_t seed, const std::atomic<bool>& stop) {
    const auto width = static_cast<std::size_t>(rows.width);
    const auto most = static_cast<std::size_t>(sampling.n_negatives) + 1;
    std::vector<float> room(room_of(sampling.n_negatives + 1, rows.width));
    std::vector<float*> outputs(most);
    const float once = 1;
    Sample waiting[ahead];
    Stream stream(seed, 0);
    for (std::int64_t s = 0; s < sampling.n_samples + static_cast<std::int64_t>(ahead) && !stop; ++s) {
        Sample& sample = waiting[static_cast<std::size_t>(s) % ahead];
        if (s >= static_cast<std::int64_t>(ahead)) {
            const double share = static_cast<double>(s - ahead) / static_cast<double>(sampling.n_samples);
            const double rate = sampling.first_rate + share * (sampling.last_rate - sampling.first_rate);
            float* input = rows.inputs + sample.from * width;
            for (std::size_t k = 0; k < sample.to.size(); ++k) outputs[k] = rows.outputs + sample.to[k] * width;
            set.sampled_step({&input, &once, 1, outputs.data(), sample.counts.data(),
                              static_cast<int>(sample.to.size()), rows.width, static_cast<float>(rate), room.data()});
        }
        if (s >= sampling.n_samples) continue;
        sampler.draw_sample(stream, sampling.n_negatives, sample);
        fetch_row(rows.inputs + sample.from * width, rows.width);
        for (const std::int32_t node : sample.to) fetch_row(rows.outputs + node * width, rows.width);
    }
}

}  // namespace

template <class Index>
bool link_steps(const InstructionSet& set, const std::vector<NodeRows>& rows, const Links<Index>& links,
                const double* weights, const LinkSampling& sampling, int n_threads, const Interrupted& interrupted) {
    const Sampler<Index> sampler(links, weights, rows[0].n_nodes);
    return run_parallel(static_cast<std::int64_t>(rows.size()), n_threads, interrupted, [&] {
        return [&](std::int64_t item, const std::atomic<bool>& stop) {
            const auto place = static_cast<std::size_t>(item);
            descend(set, rows[place], sampler, sampling, sampling.seed + place, stop);
        };
    });
}

#define STEPS_OVER(Index)                                                                                             \
    template bool link_steps(const InstructionSet&, const std::vector<NodeRows>&, const Links<Index>&, const double*, \
                             const LinkSampling&, int, const Interrupted&);
STEPS_OVER(std::int32_t)
STEPS_OVER(std::int64_t)

}  // namespace vicinal
