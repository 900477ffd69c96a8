// Walks on networks and what is learned from them: NumPy in and out.
#include "binding.hpp"
#include "line.hpp"
#include "skipgram.hpp"
#include "walks.hpp"

namespace {

using Floats = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Nodes = nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstNodes = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Links as the tuple (targets, starts, weights or None), checked by whoever made it: f(links, weights, n_nodes).
template <class F>
auto with_links(const nb::tuple& network, F f) {
    const auto targets = nb::cast<AnyVector>(network[0]), starts = nb::cast<AnyVector>(network[1]);
    std::optional<Vector<double>> weights;
    if (!nb::isinstance<nb::none>(nb::object(network[2]))) weights = nb::cast<Vector<double>>(network[2]);
    require(!weights || weights->shape(0) == targets.shape(0), "there must be a weight per link");
    const auto n_nodes = static_cast<std::int64_t>(starts.shape(0)) - 1;
    return with_indices(targets, starts, [&](auto* typed_targets, auto* typed_starts) {
        using Index = std::remove_const_t<std::remove_pointer_t<decltype(typed_targets)>>;
        require(static_cast<std::size_t>(typed_starts[n_nodes]) == targets.shape(0), "starts do not fit the targets");
        return f(Links<Index>{typed_targets, typed_starts}, weights ? weights->data() : nullptr, n_nodes);
    });
}

const InstructionSet& set_of(const std::string& isa) { return isa.empty() ? chosen_set() : find_set(isa, "isa"); }

void alias_table(Vector<double> weights, Table out) {
    require(out.shape(0) == weights.shape(0) && out.shape(1) == 2, "out must have two numbers per weight");
    AliasMaker().make(weights.data(), static_cast<std::uint32_t>(weights.shape(0)),
                      reinterpret_cast<Alias*>(out.data()));
}

void walks(nb::tuple network, Vector<std::int32_t> first, Nodes out, std::uint64_t seed, std::uint64_t offset,
           int n_threads, nb::object callback) {
    require(out.shape(0) == first.shape(0) && out.shape(1) >= 1, "out must have a row per walk");
    const bool finished = with_links(network, [&](const auto& links, const double* weights, std::int64_t n_nodes) {
        check_nodes(first.data(), first.size(), n_nodes);
        nb::gil_scoped_release release;
        return random_walks(links, weights, n_nodes, first.data(), static_cast<std::int64_t>(out.shape(0)),
                            static_cast<std::int64_t>(out.shape(1)), seed, offset, n_threads, listener(callback),
                            out.data());
    });
    if (!finished) throw nb::python_error();
}

NodeRows rows_of(const Floats& inputs, const Floats& outputs) {
    require(inputs.shape(0) == outputs.shape(0) && inputs.shape(1) == outputs.shape(1), "rows differ in shape");
    require(inputs.shape(1) % ROW_STEP == 0, "the width of rows must be a multiple of 32");
    return {inputs.data(), outputs.data(), static_cast<std::int64_t>(inputs.shape(0)),
            static_cast<int>(inputs.shape(1))};
}

void step(Floats inputs, Floats outputs, Vector<float> input_counts, Vector<float> output_counts, double rate,
          const std::string& isa) {
    require(inputs.shape(1) == outputs.shape(1) && inputs.shape(1) % ROW_STEP == 0, "rows have a wrong width");
    require(inputs.shape(0) <= MOST_INPUTS && outputs.shape(0) >= 1, "there are too many inputs, or no output");
    require(inputs.shape(0) == input_counts.shape(0) && outputs.shape(0) == output_counts.shape(0),
            "there must be a count per row");
    const int width = static_cast<int>(inputs.shape(1)), n_outputs = static_cast<int>(outputs.shape(0));
    std::vector<float*> x, y;
    for (std::size_t i = 0; i < inputs.shape(0); ++i) x.push_back(inputs.data() + i * width);
    for (std::size_t k = 0; k < outputs.shape(0); ++k) y.push_back(outputs.data() + k * width);
    std::vector<float> room(room_of(n_outputs, width));
    set_of(isa).sampled_step({x.data(), input_counts.data(), static_cast<int>(x.size()), y.data(), output_counts.data(),
                              n_outputs, width, static_cast<float>(rate), room.data()});
}

void over_walks(ConstNodes nodes, Floats inputs, Floats outputs, Vector<double> noise, int window, int n_negatives,
                double first_rate, double last_rate, std::uint64_t seed, std::uint64_t offset, int n_parts,
                int n_threads, nb::object callback, const std::string& isa) {
    const NodeRows rows = rows_of(inputs, outputs);
    require(static_cast<std::int64_t>(noise.shape(0)) == rows.n_nodes, "there must be a noise weight per node");
    require(window >= 1 && n_negatives >= 0 && n_threads >= 1, "numbers must be positive");
    require(1 <= n_parts && n_parts <= 255 && n_parts <= rows.n_nodes, "there are too many parts");
    for (std::size_t e = 0; e < nodes.size(); ++e) require(nodes.data()[e] < rows.n_nodes, "a node is out of range");
    const Walks walks{nodes.data(), static_cast<std::int64_t>(nodes.shape(0)),
                      static_cast<std::int64_t>(nodes.shape(1))};
    const Sampling sampling{window, n_negatives, noise.data(), first_rate, last_rate, seed, offset, n_parts};
    const InstructionSet& set = set_of(isa);
    nb::gil_scoped_release release;
    const bool finished = skip_gram(set, rows, walks, sampling, n_threads, listener(callback));
    nb::gil_scoped_acquire gil;
    if (!finished) throw nb::python_error();
}

// Inputs and outputs of one row may be the same array, which is first order proximity.
void over_links(nb::tuple network, std::vector<std::pair<Floats, Floats>> rows, std::int64_t n_samples, int n_negatives,
                double first_rate, double last_rate, std::uint64_t seed, int n_threads, nb::object callback,
                const std::string& isa) {
    require(!rows.empty() && n_samples >= 0 && n_negatives >= 0 && n_threads >= 1, "numbers must be positive");
    std::vector<NodeRows> typed;
    for (const auto& [inputs, outputs] : rows) typed.push_back(rows_of(inputs, outputs));
    const LinkSampling sampling{n_samples, n_negatives, first_rate, last_rate, seed};
    const InstructionSet& set = set_of(isa);
    const bool finished = with_links(network, [&](const auto& links, const double* weights, std::int64_t n_nodes) {
        for (const NodeRows& own : typed) require(own.n_nodes == n_nodes, "there must be a row per node");
        require(links.starts[n_nodes] > 0 || n_samples == 0, "there are no links to draw");
        nb::gil_scoped_release release;
        return link_steps(set, typed, links, weights, sampling, n_threads, listener(callback));
    });
    if (!finished) throw nb::python_error();
}

}  // namespace

void bind_walks(nb::module_& m) {
    m.def("alias_table", &alias_table, "weights"_a, "out"_a);
    m.def("random_walks", &walks, "network"_a, "first"_a, "out"_a, "seed"_a, "offset"_a = 0, "n_threads"_a = 1,
          "callback"_a.none() = nb::none());
    m.def("sampled_step", &step, "inputs"_a, "outputs"_a, "input_counts"_a, "output_counts"_a, "rate"_a, "isa"_a = "");
    m.def("skip_gram", &over_walks, "nodes"_a, "inputs"_a, "outputs"_a, "noise"_a, "window"_a, "n_negatives"_a,
          "first_rate"_a, "last_rate"_a, "seed"_a, "offset"_a = 0, "n_parts"_a = 1, "n_threads"_a = 1,
          "callback"_a.none() = nb::none(), "isa"_a = "");
    m.def("link_steps", &over_links, "network"_a, "rows"_a, "n_samples"_a, "n_negatives"_a, "first_rate"_a,
          "last_rate"_a, "seed"_a, "n_threads"_a = 1, "callback"_a.none() = nb::none(), "isa"_a = "");
}
