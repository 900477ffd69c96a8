// Triplets and links between rows: NumPy in and out.
#include "binding.hpp"
#include "triplets.hpp"

namespace {

using Doubles = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using DoubleRows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstRows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Triplets = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Value, class F>
auto with_values(const nb::tuple& rows, F f) {
    const auto columns = nb::cast<AnyVector>(rows[1]), starts = nb::cast<AnyVector>(rows[2]);
    std::optional<Vector<Value>> values;
    if (!nb::isinstance<nb::none>(nb::object(rows[0]))) values = nb::cast<Vector<Value>>(rows[0]);
    require(!values || values->shape(0) == columns.shape(0), "values and columns must have the same length");
    const auto n_columns = nb::cast<std::int64_t>(rows[3]);
    const auto n_rows = static_cast<std::int64_t>(starts.shape(0)) - 1;
    return with_indices(columns, starts, [&](auto* typed_columns, auto* typed_starts) {
        using Index = std::remove_const_t<std::remove_pointer_t<decltype(typed_columns)>>;
        require(static_cast<std::size_t>(typed_starts[n_rows]) == columns.shape(0), "starts do not fit the columns");
        return f(SparseView<Index, Value>{n_rows, n_columns, values ? values->data() : nullptr, typed_columns,
                                          typed_starts});
    });
}

// Rows as the tuple (values in either precision or None, columns, starts, n_columns), checked by whoever made it:
// f(view).
template <class F>
auto with_rows(const nb::tuple& rows, F f) {
    Vector<float> values;
    return nb::try_cast(rows[0], values, false) ? with_values<float>(rows, f) : with_values<double>(rows, f);
}

// A row of directions, corrections and state (scale, passed, steps) for each penalty.
void steps(nb::tuple rows, Triplets triplets, int loss, DoubleRows directions, DoubleRows corrections, DoubleRows state,
           Vector<double> penalties, double first_step) {
    require(triplets.shape(1) == 3, "triplets have three rows each");
    require(0 <= loss && loss < n_margin_losses, "there is no such loss");
    const std::size_t count = penalties.shape(0);
    require(
        directions.shape(0) == count && corrections.shape(0) == count && state.shape(0) == count && state.shape(1) == 3,
        "there must be a row of everything for each penalty");
    with_rows(rows, [&](const auto& x) {
        const auto width = static_cast<std::size_t>(x.n_columns);
        require(directions.shape(1) == width && corrections.shape(1) == width,
                "directions and corrections have a number per column");
        check_nodes(triplets.data(), triplets.size(), x.n_rows);
        std::vector<Descent> descents;
        for (std::size_t c = 0; c < count; ++c) {
            double* own = state.data() + 3 * c;
            descents.push_back({directions.data() + c * width, corrections.data() + c * width, own, own + 1, own + 2,
                                penalties.data()[c]});
        }
        nb::gil_scoped_release release;
        triplet_steps(x, triplets.data(), static_cast<std::int64_t>(triplets.shape(0)), static_cast<MarginLoss>(loss),
                      first_step, descents);
    });
}

void margins(nb::tuple rows, Triplets triplets, ConstRows weights, DoubleRows out, Doubles squares, int n_threads,
             nb::object callback) {
    require(triplets.shape(1) == 3 && n_threads >= 1, "triplets have three rows each, and there must be a thread");
    require(
        out.shape(0) == triplets.shape(0) && out.shape(1) == weights.shape(0) && squares.shape(0) == triplets.shape(0),
        "outputs have a wrong shape");
    const bool finished = with_rows(rows, [&](const auto& x) {
        require(weights.shape(1) == static_cast<std::size_t>(x.n_columns), "weights have a number per column");
        check_nodes(triplets.data(), triplets.size(), x.n_rows);
        nb::gil_scoped_release release;
        return triplet_margins(x, triplets.data(), static_cast<std::int64_t>(triplets.shape(0)), weights.data(),
                               static_cast<std::int64_t>(weights.shape(0)), n_threads, listener(callback), out.data(),
                               squares.data());
    });
    if (!finished) throw nb::python_error();
}

void products(nb::tuple rows, AnyVector targets, AnyVector starts, Doubles sums, int n_threads, nb::object callback) {
    const bool finished = with_rows(rows, [&](const auto& x) {
        require(static_cast<std::int64_t>(starts.shape(0)) == x.n_rows + 1, "there are links for other rows");
        require(static_cast<std::int64_t>(sums.shape(0)) == x.n_columns && n_threads >= 1, "sums have a wrong length");
        return with_indices(targets, starts, [&](auto* typed_targets, auto* typed_starts) {
            using Node = std::remove_const_t<std::remove_pointer_t<decltype(typed_targets)>>;
            nb::gil_scoped_release release;
            return link_products(x, Links<Node>{typed_targets, typed_starts}, n_threads, listener(callback),
                                 sums.data());
        });
    });
    if (!finished) throw nb::python_error();
}

void linked(AnyVector targets, AnyVector starts, Vector<std::int32_t> first, Vector<std::int32_t> second, Bytes out) {
    require(first.shape(0) == second.shape(0) && first.shape(0) == out.shape(0), "pairs differ in length");
    check_nodes(first.data(), first.size(), static_cast<std::int64_t>(starts.shape(0)) - 1);
    with_indices(targets, starts, [&](auto* typed_targets, auto* typed_starts) {
        using Node = std::remove_const_t<std::remove_pointer_t<decltype(typed_targets)>>;
        nb::gil_scoped_release release;
        are_linked(Links<Node>{typed_targets, typed_starts}, first.data(), second.data(),
                   static_cast<std::int64_t>(first.shape(0)), out.data());
    });
}

}  // namespace

void bind_triplets(nb::module_& m) {
    m.def("triplet_steps", &steps, "rows"_a, "triplets"_a, "loss"_a, "directions"_a, "corrections"_a, "state"_a,
          "penalties"_a, "first_step"_a = 1.0);
    m.def("triplet_margins", &margins, "rows"_a, "triplets"_a, "weights"_a, "margins"_a, "squares"_a, "n_threads"_a = 1,
          "callback"_a.none() = nb::none());
    m.def("link_products", &products, "rows"_a, "targets"_a, "starts"_a, "sums"_a, "n_threads"_a = 1,
          "callback"_a.none() = nb::none());
    m.def("are_linked", &linked, "targets"_a, "starts"_a, "first"_a, "second"_a, "out"_a);
}
