// Graphs between rows, and kernels that agree with them: NumPy in and out.
#include "alignment.hpp"
#include "diffusion.hpp"
#include "sparse_rows.hpp"

namespace {

using Doubles = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FloatRows = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstFloatRows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Index>
void check_links(const Index* targets, const Index* starts, std::int64_t n, std::size_t n_targets) {
    require(starts[0] == 0 && static_cast<std::size_t>(starts[n]) == n_targets, "starts do not fit the targets");
    for (std::int64_t i = 0; i < n; ++i) require(starts[i] <= starts[i + 1], "starts must not fall");
    for (std::size_t e = 0; e < n_targets; ++e) require(0 <= targets[e] && targets[e] < n, "a row is out of range");
}

void diffuse_between(Vector<float> shares, AnyVector targets, AnyVector starts, ConstFloatRows between, FloatRows out,
                     int n_threads, nb::object callback) {
    const auto n = static_cast<std::int64_t>(starts.shape(0)) - 1;
    require(n >= 1 && n_threads >= 1, "there must be a row and a thread");
    require(shares.shape(0) == targets.shape(0), "shares and targets must have the same length");
    for (const std::size_t size : {between.shape(0), between.shape(1), out.shape(0), out.shape(1)}) {
        require(static_cast<std::int64_t>(size) == n, "matrices must have a row and a column per node");
    }
    const bool finished = with_indices(targets, starts, [&](auto* typed_targets, auto* typed_starts) {
        using Index = std::remove_const_t<std::remove_pointer_t<decltype(typed_targets)>>;
        check_links(typed_targets, typed_starts, n, targets.shape(0));
        nb::gil_scoped_release release;
        return diffuse(Walks<Index>{n, shares.data(), typed_targets, typed_starts}, between.data(), n_threads,
                       listener(callback), out.data());
    });
    if (!finished) throw nb::python_error();
}

double align_rows(const SparseRows& rows, Vector<double> weights, Vector<double> bias, double scale,
                  Vector<double> link_weights, AnyVector targets, AnyVector starts, Vector<double> means, double mean,
                  bool everywhere, Doubles received, Doubles products, int n_threads, nb::object callback,
                  const std::string& isa) {
    const auto n = static_cast<std::size_t>(rows.n_rows);
    require(starts.shape(0) == n + 1 && means.shape(0) == n && received.shape(0) == n && n_threads >= 1,
            "the graph must have a node per row");
    require(link_weights.shape(0) == targets.shape(0), "weights and targets must have the same length");
    require(static_cast<std::int64_t>(products.shape(0)) == rows.n_columns, "products have a number per column");
    const InstructionSet& set = isa.empty() ? chosen_set() : find_set(isa, "isa");
    double total = 0;
    const bool finished = with_indices(targets, starts, [&](auto* typed_targets, auto* typed_starts) {
        using Node = std::remove_const_t<std::remove_pointer_t<decltype(typed_targets)>>;
        check_links(typed_targets, typed_starts, rows.n_rows, targets.shape(0));
        const CentredGraph<Node> graph{link_weights.data(), typed_targets, typed_starts, means.data(), mean};
        return rows.with(weights, bias, [&](const auto& x) {
            nb::gil_scoped_release release;
            return align(set, x, graph, scale, everywhere, n_threads, listener(callback), total, received.data(),
                         products.data());
        });
    });
    if (!finished) throw nb::python_error();
    return total;
}

}  // namespace

void bind_alignment(nb::module_& m) {
    m.def("diffuse", &diffuse_between, "shares"_a, "targets"_a, "starts"_a, "between"_a, "out"_a, "n_threads"_a = 1,
          "callback"_a.none() = nb::none());
    m.def("align_rows", &align_rows, "rows"_a, "weights"_a, "bias"_a, "scale"_a, "link_weights"_a, "targets"_a,
          "starts"_a, "means"_a, "mean"_a, "everywhere"_a, "received"_a, "products"_a, "n_threads"_a = 1,
          "callback"_a.none() = nb::none(), "isa"_a = "");
}
