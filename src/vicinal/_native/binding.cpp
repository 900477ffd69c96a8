// The thin layer between NumPy arrays and the engine: it checks types and lengths, releases the GIL, listens for
// Ctrl-C.
#include "binding.hpp"

#include "engine.hpp"
#include "fourier.hpp"
#include "hashing.hpp"
#include "subspaces.hpp"

namespace {

// Calls f with typed pointers to the output arrays.
template <class F>
auto with_outputs(Output& columns, Output& values, F f) {
    require(columns.shape(0) == values.shape(0) && columns.shape(1) == values.shape(1), "outputs differ in shape");
    auto typed = [&](auto* value) {
        if (columns.dtype() == nb::dtype<std::int32_t>()) return f(static_cast<std::int32_t*>(columns.data()), value);
        require(columns.dtype() == nb::dtype<std::int64_t>(), "columns must be int32 or int64");
        return f(static_cast<std::int64_t*>(columns.data()), value);
    };
    if (values.dtype() == nb::dtype<float>()) return typed(static_cast<float*>(values.data()));
    require(values.dtype() == nb::dtype<double>(), "values must be float32 or float64");
    return typed(static_cast<double*>(values.data()));
}

// Calls run with a typed pointer to the output; false: it was interrupted.
template <class F>
void fill(Output& out, F run) {
    const bool single = out.dtype() == nb::dtype<float>();
    require(single || out.dtype() == nb::dtype<double>(), "out must be float32 or float64");
    if (!(single ? run(static_cast<float*>(out.data())) : run(static_cast<double*>(out.data()))))
        throw nb::python_error();
}

ValueRule rule_of(const std::optional<Vector<double>>& mean_distances, double epsilon, bool unit_rows,
                  bool row_means = false) {
    return {mean_distances ? mean_distances->data() : nullptr, epsilon, unit_rows, row_means};
}

// Ascending pointers from 0 to `length`, with at least one entry between any two.
void require_pointers(const Vector<std::int64_t>& pointers, std::size_t length, bool empty_allowed,
                      const char* message) {
    const std::size_t n = pointers.shape(0);
    require(n >= 2 && pointers.data()[0] == 0, message);
    require(pointers.data()[n - 1] == static_cast<std::int64_t>(length), message);
    for (std::size_t i = 1; i < n; ++i) {
        require(pointers.data()[i] - pointers.data()[i - 1] >= (empty_allowed ? 0 : 1), message);
    }
}

void require_below(const Vector<std::int32_t>& indices, std::int64_t limit, const char* message) {
    for (std::size_t i = 0; i < indices.shape(0); ++i) {
        require(indices.data()[i] >= 0 && indices.data()[i] < limit, message);
    }
}

// Groups of anchors over arrays that it keeps alive; checked once, here.
class AnchorGroups {
public:
    AnchorGroups(nb::object table, Vector<std::int64_t> anchor_ptr, Vector<std::int32_t> rows,
                 Vector<std::int64_t> feature_ptr, Vector<std::int32_t> features, std::optional<Vector<double>> center,
                 double scale, int metric, std::optional<Vector<std::uint64_t>> fingerprints, nb::object directions)
        : table_(table), directions_(directions), anchor_ptr_(anchor_ptr), rows_(rows), feature_ptr_(feature_ptr),
          features_(features), center_(center), fingerprints_(fingerprints) {
        groups = {matrix_of(table),
                  directions.is_none() ? Matrix{} : matrix_of(directions),
                  static_cast<int>(anchor_ptr.shape(0)) - 1,
                  anchor_ptr.data(),
                  rows.data(),
                  feature_ptr.data(),
                  features.data(),
                  center ? center->data() : nullptr,
                  scale,
                  static_cast<Metric>(metric)};
        const std::int64_t n_rows = groups.table.n_rows;
        require(0 <= metric && metric <= 2, "metric must be 0, 1 or 2");
        auto length = [](const auto& array) { return static_cast<std::int64_t>(array.shape(0)); };
        require(feature_ptr.shape(0) == anchor_ptr.shape(0), "the pointers differ in length");
        require(!center || length(*center) == groups.n_columns(), "center must have a number per column");
        require(!fingerprints || length(*fingerprints) == n_rows, "fingerprints must have a number per row");
        require(!groups.projected() || groups.directions.n_rows == groups.n_groups * groups.table.n_columns,
                "directions must have as many rows per group as the table has columns");
        require(!groups.projected() || !groups.directions.sparse, "directions must be dense");
        require_pointers(anchor_ptr, rows.shape(0), false, "anchor_ptr does not fit rows");
        require_pointers(feature_ptr, features.shape(0), false, "feature_ptr does not fit features");
        require_below(rows, n_rows, "an anchor's row is out of range");
        require_below(features, groups.table.n_columns, "a feature is out of range");
    }

    Groups groups;
    const std::uint64_t* fingerprints() const { return fingerprints_ ? fingerprints_->data() : nullptr; }

private:
    nb::object table_, directions_;
    Vector<std::int64_t> anchor_ptr_;
    Vector<std::int32_t> rows_;
    Vector<std::int64_t> feature_ptr_;
    Vector<std::int32_t> features_;
    std::optional<Vector<double>> center_;
    std::optional<Vector<std::uint64_t>> fingerprints_;
};

nb::tuple result_of(const Outcome& outcome) {
    if (outcome.interrupted) throw nb::python_error();
    return nb::make_tuple(nb::cast(outcome.sums), nb::cast(outcome.n_summed), outcome.n_missing);
}

nb::tuple nearest(nb::object x_object, const AnchorGroups& anchors, Output columns, Output values,
                  std::optional<Vector<double>> mean_distances, double epsilon, bool unit_rows, int n_neighbors,
                  int n_threads, nb::object callback, bool use_index, bool row_means, const std::string& isa) {
    const Matrix x = matrix_of(x_object);
    const Groups& groups = anchors.groups;
    require(x.n_columns == groups.n_columns(), "x and the anchors differ in their number of columns");
    require(x.n_rows >= 1 && n_neighbors >= 1, "there must be at least one row and one neighbour");
    require(!x.sparse || !groups.center, "a center cannot move the zeros of a CSR matrix");
    for (int t = 0; t < groups.n_groups; ++t) {
        require(groups.n_anchors(t) >= n_neighbors, "a group has fewer anchors than n_neighbors");
    }
    require(!mean_distances || static_cast<int>(mean_distances->shape(0)) == groups.n_groups,
            "mean_distances must have a number per group");
    require(static_cast<std::int64_t>(values.shape(0)) == x.n_rows &&
                static_cast<std::int64_t>(values.shape(1)) == static_cast<std::int64_t>(groups.n_groups) * n_neighbors,
            "outputs have a wrong shape");
    require(!row_means || !mean_distances, "values go by the groups' means or by the rows', not by both");
    const ValueRule rule = rule_of(mean_distances, epsilon, unit_rows, row_means);
    const Options options{n_neighbors, n_threads, use_index, !mean_distances && !row_means, anchors.fingerprints()};
    const InstructionSet& set = isa.empty() ? chosen_set() : find_set(isa, "isa");
    return result_of(with_outputs(columns, values, [&](auto* column, auto* value) {
        nb::gil_scoped_release release;
        return nearest_anchors(set, x, groups, rule, options, listener(callback), column, value);
    }));
}

nb::tuple sum_distances(nb::object x_object, const AnchorGroups& anchors, bool single, int n_threads,
                        nb::object callback, const std::string& isa) {
    const Matrix x = matrix_of(x_object);
    require(x.n_columns == anchors.groups.n_columns(), "x and the anchors differ in their number of columns");
    const Options options{1, n_threads, false, true, nullptr};
    const InstructionSet& set = isa.empty() ? chosen_set() : find_set(isa, "isa");
    auto run = [&](auto* nothing) {
        nb::gil_scoped_release release;
        return nearest_anchors(set, x, anchors.groups, {}, options, listener(callback),
                               static_cast<std::int32_t*>(nullptr), nothing);
    };
    return result_of(single ? run(static_cast<float*>(nullptr)) : run(static_cast<double*>(nullptr)));
}

void finish(Output columns, Output values, int n_groups, Vector<double> mean_distances, double epsilon, bool unit_rows,
            int n_threads) {
    require(static_cast<int>(mean_distances.shape(0)) == n_groups && values.shape(1) % n_groups == 0,
            "mean_distances must have a number per group");
    const ValueRule rule = rule_of(mean_distances, epsilon, unit_rows);
    const int n_neighbors = static_cast<int>(values.shape(1)) / n_groups;
    const nb::object nothing = nb::none();
    bool finished = with_outputs(columns, values, [&](auto* column, auto* value) {
        nb::gil_scoped_release release;
        return apply_rule(values.shape(0), n_groups, n_neighbors, rule, n_threads, listener(nothing), column, value);
    });
    if (!finished) throw nb::python_error();
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

// Closes the gaps that entries without an anchor leave; the CSR arrays are the first indptr[-1] entries afterwards.
void drop_missing(Output columns, Output values, nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig> indptr) {
    require(indptr.shape(0) == columns.shape(0) + 1, "indptr has a wrong length");
    with_outputs(columns, values, [&](auto* column, auto* value) {
        const std::int64_t n = columns.shape(0), width = columns.shape(1);
        std::int64_t at = 0;
        indptr.data()[0] = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t e = i * width; e < (i + 1) * width; ++e) {
                if (column[e] < 0) continue;
                column[at] = column[e];
                value[at++] = value[e];
            }
            indptr.data()[i + 1] = at;
        }
    });
}

void fingerprints(nb::object x_object, nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig> out) {
    const Matrix x = matrix_of(x_object);
    require(static_cast<std::int64_t>(out.shape(0)) == x.n_rows, "out must have a number per row");
    for (std::int64_t i = 0; i < x.n_rows; ++i) out.data()[i] = fingerprint(x, i);
}

}  // namespace

NB_MODULE(_core, m) {
    m.attr("instruction_set") = chosen_set().name;
    m.attr("available_instruction_sets") = available_sets();
    nb::class_<AnchorGroups>(m, "AnchorGroups")
        .def(
            nb::init<nb::object, Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int64_t>, Vector<std::int32_t>,
                     std::optional<Vector<double>>, double, int, std::optional<Vector<std::uint64_t>>, nb::object>(),
            "table"_a, "anchor_ptr"_a, "rows"_a, "feature_ptr"_a, "features"_a, "center"_a.none() = nb::none(),
            "scale"_a = 1.0, "metric"_a = 0, "fingerprints"_a.none() = nb::none(), "directions"_a.none() = nb::none());
    nb::class_<LandmarkSubspaces>(m, "LandmarkSubspaces")
        .def(nb::init<nb::object, Vector<std::int64_t>, Vector<double>, Vector<std::int64_t>, Vector<std::int32_t>,
                      std::optional<nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>>,
                      nb::object, std::optional<Vector<double>>, double, int>(),
             "table"_a, "direction_ptr"_a, "own"_a, "drawn_ptr"_a, "drawn"_a, "neighbors"_a.none() = nb::none(),
             "coefficients"_a.none() = nb::none(), "center"_a.none() = nb::none(), "scale"_a = 1.0, "metric"_a = 0);
    m.def("nearest", &nearest, "x"_a, "groups"_a, "columns"_a, "values"_a, "mean_distances"_a.none() = nb::none(),
          "epsilon"_a = 0.0, "unit_rows"_a = false, "n_neighbors"_a = 1, "n_threads"_a = 1,
          "callback"_a.none() = nb::none(), "use_index"_a = true, "row_means"_a = false, "isa"_a = "");
    m.def("nearest_in_subspaces", &nearest_in_subspaces, "x"_a, "subspaces"_a, "columns"_a, "values"_a,
          "epsilon"_a = 0.0, "n_nearest"_a = 1, "n_threads"_a = 1, "callback"_a.none() = nb::none(), "isa"_a = "");
    m.def("project", &project_rows, "x"_a, "directions"_a, "out"_a, "center"_a.none() = nb::none(), "scale"_a = 1.0,
          "n_threads"_a = 1, "isa"_a = "");
    m.def("fourier_features", &fourier_rows, "x"_a, "out"_a, "frequencies"_a.none() = nb::none(),
          "factors"_a.none() = nb::none(), "scale"_a = 1.0, "n_threads"_a = 1, "callback"_a.none() = nb::none(),
          "isa"_a = "");
    m.def("hash_rows", &hash_rows, "x"_a, "out"_a, "seed"_a, "n_blocks"_a, "with_signs"_a = true, "n_threads"_a = 1,
          "isa"_a = "");
    bind_neighbors(m);
    bind_nearest_rows(m);
    bind_triplets(m);
    bind_walks(m);
    bind_latent(m);
    bind_alignment(m);
    bind_stumps(m);
    bind_pair_network(m);
    m.def("sum_distances", &sum_distances, "x"_a, "groups"_a, "single"_a, "n_threads"_a = 1,
          "callback"_a.none() = nb::none(), "isa"_a = "");
    m.def("finish", &finish, "columns"_a, "values"_a, "n_groups"_a, "mean_distances"_a, "epsilon"_a, "unit_rows"_a,
          "n_threads"_a);
    m.def("drop_missing", &drop_missing, "columns"_a, "values"_a, "indptr"_a);
    m.def("fingerprints", &fingerprints, "x"_a, "out"_a);
}
