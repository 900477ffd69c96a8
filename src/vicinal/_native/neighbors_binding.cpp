// Products of rows: NumPy in and out.
#include "sparse_rows.hpp"

namespace {

using Doubles = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Neighbors = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::pair<double, double> softmax_of_products(const SparseRows& rows, Vector<double> weights,
                                              std::optional<Vector<double>> bias, double scale,
                                              std::optional<Neighbors> candidates, std::int64_t n_sampled, double share,
                                              std::optional<Doubles> gradient, std::optional<Doubles> received,
                                              int n_threads, nb::object callback, const std::string& isa) {
    require(gradient.has_value() == received.has_value(), "gradient and received come together");
    require(!gradient || (static_cast<std::int64_t>(gradient->shape(0)) == rows.n_columns &&
                          static_cast<std::int64_t>(received->shape(0)) == rows.n_rows),
            "gradient has a number per column, received one per row");
    require(n_threads >= 1, "there must be a thread");
    Candidates listed;
    if (candidates) {
        listed = {candidates->data(), static_cast<std::int64_t>(candidates->shape(1)), n_sampled, share};
        require(0 <= n_sampled && n_sampled <= listed.count, "more are sampled than there are candidates");
        require(static_cast<std::int64_t>(candidates->shape(0)) == rows.n_rows && candidates->shape(1) >= 1,
                "candidates must have a row per row");
        for (std::size_t i = 0; i < candidates->size(); ++i) {
            require(candidates->data()[i] >= 0 && candidates->data()[i] < rows.n_rows, "a candidate is out of range");
        }
    }
    const InstructionSet& set = isa.empty() ? chosen_set() : find_set(isa, "isa");
    SoftmaxSums sums;
    const bool finished = rows.with(weights, bias, [&](const auto& x) {
        nb::gil_scoped_release release;
        return softmax_sums(set, x, scale, listed, n_threads, listener(callback), sums,
                            gradient ? gradient->data() : nullptr, received ? received->data() : nullptr);
    });
    if (!finished) throw nb::python_error();
    return {sums.log_totals, sums.entropies};
}

void products_of_rows(const SparseRows& rows, Vector<double> weights,
                      nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> out, int n_threads) {
    require(static_cast<std::int64_t>(out.shape(0)) == rows.n_rows && out.shape(0) == out.shape(1) && n_threads >= 1,
            "out must be square, with a row per row");
    const nb::object nothing = nb::none();
    const bool finished = rows.with(weights, std::nullopt, [&](const auto& x) {
        nb::gil_scoped_release release;
        return all_products(x, n_threads, listener(nothing), out.data());
    });
    if (!finished) throw nb::python_error();
}

}  // namespace

void bind_neighbors(nb::module_& m) {
    nb::class_<SparseRows>(m, "SparseRows")
        .def(nb::init<Vector<double>, AnyVector, AnyVector, Vector<double>, AnyVector, AnyVector>(), "row_values"_a,
             "row_columns"_a, "row_starts"_a, "column_values"_a, "column_rows"_a, "column_starts"_a);
    m.def("softmax_of_products", &softmax_of_products, "rows"_a, "weights"_a, "bias"_a.none() = nb::none(),
          "scale"_a = 1.0, "candidates"_a.none() = nb::none(), "n_sampled"_a = 0, "share"_a = 1.0,
          "gradient"_a.none() = nb::none(), "received"_a.none() = nb::none(), "n_threads"_a = 1,
          "callback"_a.none() = nb::none(), "isa"_a = "");
    m.def("products_of_rows", &products_of_rows, "rows"_a, "weights"_a, "out"_a, "n_threads"_a = 1);
}
