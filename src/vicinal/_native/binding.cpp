// The thin layer between NumPy arrays and the compiled part: it checks types and lengths, releases the GIL, listens for
// Ctrl-C. Here: landmarks with subspaces, random maps, and the module itself.
#include "binding.hpp"

#include "fourier.hpp"
#include "hashing.hpp"
#include "subspaces.hpp"

namespace {

// Calls run with a typed pointer to the output; false: it was interrupted.
template <class F>
void fill(Output& out, F run) {
    const bool single = out.dtype() == nb::dtype<float>();
    require(single || out.dtype() == nb::dtype<double>(), "out must be float32 or float64");
    if (!(single ? run(static_cast<float*>(out.data())) : run(static_cast<double*>(out.data()))))
        throw nb::python_error();
}

// Landmarks with subspaces over arrays that it keeps alive; checked once, here.
class LandmarkSubspaces {
public:
    LandmarkSubspaces(
        nb::object table, Vector<std::int64_t> direction_ptr, Vector<double> own, Vector<std::int64_t> drawn_ptr,
        Vector<std::int32_t> drawn,
        std::optional<nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>> neighbors,
        nb::object coefficients, std::optional<Vector<double>> center, double scale, int metric)
        : table_(table), coefficients_(coefficients), direction_ptr_(direction_ptr), own_(own), drawn_ptr_(drawn_ptr),
          drawn_(drawn), neighbors_(neighbors), center_(center) {
        subspaces = {matrix_of(table),
                     static_cast<int>(direction_ptr.shape(0)) - 1,
                     neighbors ? static_cast<int>(neighbors->shape(1)) : 0,
                     static_cast<int>(drawn_ptr.shape(0)) - 1,
                     direction_ptr.data(),
                     own.data(),
                     neighbors ? neighbors->data() : nullptr,
                     neighbors ? matrix_of(coefficients) : Matrix{},
                     drawn_ptr.data(),
                     drawn.data(),
                     center ? center->data() : nullptr,
                     scale,
                     static_cast<Metric>(metric)};
        const std::int64_t n_directions = own.shape(0);
        require(0 <= metric && metric <= 2, "metric must be 0, 1 or 2");
        require_pointers(direction_ptr, own.shape(0), true, "direction_ptr does not fit own");
        require_pointers(drawn_ptr, drawn.shape(0), false, "drawn_ptr does not fit drawn");
        require_below(drawn, subspaces.n_landmarks, "a landmark is out of range");
        require(!center || static_cast<std::int64_t>(center->shape(0)) == subspaces.table.n_columns,
                "center must have a number per column");
        if (!neighbors) {
            require(subspaces.table.n_rows == n_directions && !subspaces.table.sparse,
                    "the table must have a dense row per direction");
            return;
        }
        require(static_cast<int>(neighbors->shape(0)) == subspaces.n_landmarks,
                "neighbors must have a row per landmark");
        require(subspaces.coefficients.n_rows == 1 && subspaces.coefficients.column_stride == 1 &&
                    subspaces.coefficients.n_columns == n_directions * subspaces.n_neighbors,
                "coefficients must have a number per direction and neighbour");
        for (std::size_t i = 0; i < neighbors->size(); ++i) {
            require(neighbors->data()[i] >= 0 && neighbors->data()[i] < subspaces.table.n_rows,
                    "a neighbour is out of range");
        }
    }

    Subspaces subspaces;

private:
    nb::object table_, coefficients_;
    Vector<std::int64_t> direction_ptr_;
    Vector<double> own_;
    Vector<std::int64_t> drawn_ptr_;
    Vector<std::int32_t> drawn_;
    std::optional<nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>> neighbors_;
    std::optional<Vector<double>> center_;
};

void nearest_in_subspaces(nb::object x_object, const LandmarkSubspaces& landmarks, Output columns, Output values,
                          double epsilon, int n_nearest, int n_threads, nb::object callback, const std::string& isa) {
    const Matrix x = matrix_of(x_object);
    const Subspaces& subspaces = landmarks.subspaces;
    require(x.n_columns == subspaces.table.n_columns, "x and the table differ in their number of columns");
    require(x.n_rows >= 1 && n_nearest >= 1 && n_threads >= 1, "there must be a row, a neighbour and a thread");
    require(!x.sparse || !subspaces.center, "a center cannot move the zeros of a CSR matrix");
    require(!subspaces.neighbors || subspaces.coefficients.type == number_of(values.dtype()),
            "coefficients and values must have the same dtype");
    for (int t = 0; t < subspaces.n_iterations; ++t) {
        require(subspaces.n_drawn(t) >= n_nearest, "an iteration has fewer landmarks than n_nearest");
    }
    require(
        static_cast<std::int64_t>(values.shape(0)) == x.n_rows &&
            static_cast<std::int64_t>(values.shape(1)) == static_cast<std::int64_t>(subspaces.n_iterations) * n_nearest,
        "outputs have a wrong shape");
    const ValueRule rule{nullptr, epsilon, false, true};
    SubspaceOptions options;
    options.n_nearest = n_nearest;
    options.n_threads = n_threads;
    const InstructionSet& set = isa.empty() ? chosen_set() : find_set(isa, "isa");
    bool finished = with_outputs(columns, values, [&](auto* column, auto* value) {
        nb::gil_scoped_release release;
        return nearest_landmarks(set, x, subspaces, rule, options, listener(callback), column, value);
    });
    if (!finished) throw nb::python_error();
}

void project_rows(nb::object x_object, nb::object directions_object, Output out, std::optional<Vector<double>> center,
                  double scale, int n_threads, const std::string& isa) {
    const Matrix x = matrix_of(x_object), directions = matrix_of(directions_object);
    require(x.n_columns == directions.n_columns, "x and the directions differ in their number of columns");
    require(!center || static_cast<std::int64_t>(center->shape(0)) == x.n_columns,
            "center must have a number per column");
    require(!x.sparse || !center, "a center cannot move the zeros of a CSR matrix");
    require(static_cast<std::int64_t>(out.shape(0)) == x.n_rows &&
                static_cast<std::int64_t>(out.shape(1)) == directions.n_rows,
            "out has a wrong shape");
    const InstructionSet& set = isa.empty() ? chosen_set() : find_set(isa, "isa");
    const nb::object nothing = nb::none();
    auto run = [&](auto* to) {
        nb::gil_scoped_release release;
        return project(set, x, directions, center ? center->data() : nullptr, scale, n_threads, listener(nothing), to);
    };
    fill(out, run);
}

void fourier_rows(nb::object x_object, Output out, nb::object frequencies_object,
                  std::optional<nb::ndarray<nb::ro, nb::ndim<3>, nb::c_contig, nb::device::cpu>> factors, double scale,
                  int n_threads, nb::object callback, const std::string& isa) {
    const Matrix x = matrix_of(x_object);
    const Matrix frequencies = frequencies_object.is_none() ? Matrix{} : matrix_of(frequencies_object);
    const std::int64_t count = out.shape(1) / 2, n = factors ? factors->shape(2) : 0;
    require(static_cast<std::int64_t>(out.shape(0)) == x.n_rows && out.shape(1) % 2 == 0 && count >= 1,
            "out has a wrong shape");
    if (factors) {
        require(factors->shape(1) == 4 && n >= x.n_columns && (n & (n - 1)) == 0, "factors have a wrong shape");
        require(static_cast<std::int64_t>(factors->shape(0)) * n >= count, "there are too few factors");
        require(factors->dtype() == out.dtype(), "factors and out must have the same dtype");
    } else if (!frequencies_object.is_none()) {
        require(frequencies.n_rows == count && frequencies.n_columns == x.n_columns, "frequencies have a wrong shape");
    } else {
        require(x.n_columns == count, "x must have a column per angle");
    }
    const InstructionSet& set = isa.empty() ? chosen_set() : find_set(isa, "isa");
    auto run = [&](auto* to) {
        using Real = std::remove_pointer_t<decltype(to)>;
        const Frequencies<Real> map{count, frequencies_object.is_none() ? nullptr : &frequencies,
                                    factors ? static_cast<const Real*>(factors->data()) : nullptr, static_cast<int>(n)};
        nb::gil_scoped_release release;
        return fourier_features(set, x, map, static_cast<Real>(scale), n_threads, listener(callback), to);
    };
    fill(out, run);
}

void hash_rows(nb::object x_object, Output out, std::uint64_t seed, std::int64_t n_blocks, bool with_signs,
               int n_threads, const std::string& isa) {
    const Matrix x = matrix_of(x_object);
    const std::int64_t n_components = out.shape(1);
    require(static_cast<std::int64_t>(out.shape(0)) == x.n_rows, "out must have a row per row of x");
    require(n_blocks >= 1 && n_components >= 1 && n_components % n_blocks == 0,
            "n_blocks must divide the columns of out");
    require(n_components < std::int64_t(1) << 31, "out must have fewer than 2^31 columns");
    const HashedMap map{seed, n_blocks, static_cast<std::uint32_t>(n_components / n_blocks), with_signs};
    const InstructionSet& set = isa.empty() ? chosen_set() : find_set(isa, "isa");
    const nb::object nothing = nb::none();
    auto run = [&](auto* to) {
        nb::gil_scoped_release release;
        return hashed_rows(set, x, map, n_threads, listener(nothing), to);
    };
    fill(out, run);
}

}  // namespace

NB_MODULE(_core, m) {
    m.attr("instruction_set") = chosen_set().name;
    m.attr("available_instruction_sets") = available_sets();
    nb::class_<LandmarkSubspaces>(m, "LandmarkSubspaces")
        .def(nb::init<nb::object, Vector<std::int64_t>, Vector<double>, Vector<std::int64_t>, Vector<std::int32_t>,
                      std::optional<nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>>,
                      nb::object, std::optional<Vector<double>>, double, int>(),
             "table"_a, "direction_ptr"_a, "own"_a, "drawn_ptr"_a, "drawn"_a, "neighbors"_a.none() = nb::none(),
             "coefficients"_a.none() = nb::none(), "center"_a.none() = nb::none(), "scale"_a = 1.0, "metric"_a = 0);
    m.def("nearest_in_subspaces", &nearest_in_subspaces, "x"_a, "subspaces"_a, "columns"_a, "values"_a,
          "epsilon"_a = 0.0, "n_nearest"_a = 1, "n_threads"_a = 1, "callback"_a.none() = nb::none(), "isa"_a = "");
    m.def("project", &project_rows, "x"_a, "directions"_a, "out"_a, "center"_a.none() = nb::none(), "scale"_a = 1.0,
          "n_threads"_a = 1, "isa"_a = "");
    m.def("fourier_features", &fourier_rows, "x"_a, "out"_a, "frequencies"_a.none() = nb::none(),
          "factors"_a.none() = nb::none(), "scale"_a = 1.0, "n_threads"_a = 1, "callback"_a.none() = nb::none(),
          "isa"_a = "");
    m.def("hash_rows", &hash_rows, "x"_a, "out"_a, "seed"_a, "n_blocks"_a, "with_signs"_a = true, "n_threads"_a = 1,
          "isa"_a = "");
    bind_anchors(m);
    bind_neighbors(m);
    bind_nearest_rows(m);
    bind_triplets(m);
    bind_walks(m);
    bind_latent(m);
    bind_alignment(m);
    bind_stumps(m);
    bind_pair_network(m);
    bind_linear(m);
}
