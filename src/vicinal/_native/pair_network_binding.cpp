// A network of pairs of rows: NumPy in and out.
#include "binding.hpp"
#include "pair_network.hpp"

namespace {

using Said = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

PairRows pair_rows(const Said& left, const Said& right, std::size_t n_units) {
    require(left.shape(0) == right.shape(0) && left.shape(1) == n_units && right.shape(1) == n_units,
            "left and right must have a row per row and a column per unit of the first layer");
    return {static_cast<std::int64_t>(left.shape(0)), left.data(), right.data()};
}

std::vector<DenseLayer> layers_of(const std::vector<Weights>& weights, const std::vector<Vector<double>>& biases) {
    require(!weights.empty() && weights.size() == biases.size(), "there must be weights and biases per layer");
    std::vector<DenseLayer> layers;
    for (std::size_t l = 0; l < weights.size(); ++l) {
        const std::size_t n_out = weights[l].shape(1);
        require(weights[l].shape(0) >= 1 && n_out == biases[l].shape(0), "weights and biases of a layer differ");
        require(n_out == (l + 1 < weights.size() ? weights[l + 1].shape(0) : 1), "a layer does not fit the next one");
        layers.push_back(
            {static_cast<int>(weights[l].shape(0)), static_cast<int>(n_out), weights[l].data(), biases[l].data()});
    }
    return layers;
}

void kernel_of_pairs(Said left, Said right, Said other_left, Said other_right, std::vector<Weights> weights,
                     std::vector<Vector<double>> biases,
                     nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu> out, int n_threads,
                     nb::object callback, const std::string& isa) {
    const std::vector<DenseLayer> layers = layers_of(weights, biases);
    const PairRows rows = pair_rows(left, right, weights[0].shape(0));
    const PairRows others = pair_rows(other_left, other_right, weights[0].shape(0));
    require(static_cast<std::int64_t>(out.shape(0)) == rows.n && static_cast<std::int64_t>(out.shape(1)) == others.n,
            "out must have a row per row and a column per other row");
    require(n_threads >= 1, "there must be a thread");
    const InstructionSet& set = isa.empty() ? chosen_set() : find_set(isa, "isa");
    bool finished;
    {
        nb::gil_scoped_release release;
        finished = pair_kernel(set, rows, others, layers, n_threads, listener(callback), out.data());
    }
    if (!finished) throw nb::python_error();
}

}  // namespace

void bind_pair_network(nb::module_& m) {
    m.def("pair_kernel", &kernel_of_pairs, "left"_a, "right"_a, "other_left"_a, "other_right"_a, "weights"_a,
          "biases"_a, "out"_a, "n_threads"_a = 1, "callback"_a.none() = nb::none(), "isa"_a = "");
}
