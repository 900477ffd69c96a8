// Nearest rows: NumPy in and out.
#include "binding.hpp"
#include "nearest_rows.hpp"

namespace {

using Keys = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void nearest_rows_of(nb::object x_object, nb::object y_object, Keys distances, Rows rows, int metric,
                     std::optional<Vector<std::int64_t>> own, std::optional<Vector<double>> center, double scale,
                     std::int64_t panel_rows, int n_threads, nb::object callback, const std::string& isa) {
    NearestProblem problem;
    problem.x = matrix_of(x_object);
    problem.y = matrix_of(y_object);
    const Matrix &x = problem.x, &y = problem.y;
    require(0 <= metric && metric <= 3, "metric must be 0, 1, 2 or 3");
    problem.metric = static_cast<Nearness>(metric);
    require(x.sparse == y.sparse, "x and y must both be dense or both be CSR");
    require(x.n_columns == y.n_columns && x.n_columns >= 1, "x and y differ in their number of columns, or have none");
    require(!center || (static_cast<std::int64_t>(center->shape(0)) == x.n_columns && !x.sparse && metric <= 1),
            "a center is for dense rows and distances, with a number per column");
    require(!own || static_cast<std::int64_t>(own->shape(0)) == x.n_rows, "own must have a number per row");
    problem.k = distances.shape(1);
    require(1 <= problem.k && problem.k <= y.n_rows - (own ? 1 : 0), "there are not as many rows as are wanted");
    require(static_cast<std::int64_t>(distances.shape(0)) == x.n_rows && rows.shape(0) == distances.shape(0) &&
                rows.shape(1) == distances.shape(1),
            "outputs have a wrong shape");
    require(panel_rows >= 0 && n_threads >= 1 && scale > 0, "there must be a thread, a scale, and no negative panel");
    problem.own = own ? own->data() : nullptr;
    problem.center = center ? center->data() : nullptr;
    problem.scale = scale;
    problem.panel_rows = panel_rows;
    const InstructionSet& set = isa.empty() ? chosen_set() : find_set(isa, "isa");
    bool finished;
    {
        nb::gil_scoped_release release;
        finished = nearest_rows(set, problem, n_threads, listener(callback), distances.data(), rows.data());
    }
    if (!finished) throw nb::python_error();
}

}  // namespace

void bind_nearest_rows(nb::module_& m) {
    m.def("nearest_rows", &nearest_rows_of, "x"_a, "y"_a, "distances"_a, "rows"_a, "metric"_a = 0,
          "own"_a.none() = nb::none(), "center"_a.none() = nb::none(), "scale"_a = 1.0, "panel_rows"_a = 0,
          "n_threads"_a = 1, "callback"_a.none() = nb::none(), "isa"_a = "");
}
