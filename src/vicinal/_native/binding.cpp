// The thin layer between NumPy arrays and the engine: it checks types and lengths, releases the GIL, listens for Ctrl-C.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "engine.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace vicinal;

namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Output = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<std::string> available_sets() {
    std::vector<std::string> names;
    for (int i = 0; i < n_instruction_sets; ++i) {
        if (instruction_sets[i]->available()) names.push_back(instruction_sets[i]->name);
    }
    return names;
}

const InstructionSet& find_set(const std::string& name, const std::string& whence) {
    for (int i = 0; i < n_instruction_sets; ++i) {
        if (instruction_sets[i]->available() && (name.empty() || name == instruction_sets[i]->name)) {
            return *instruction_sets[i];
        }
    }
    std::string names;
    for (const auto& n : available_sets()) names += (names.empty() ? "" : ", ") + n;
    throw nb::import_error((whence + "=" + name + " is not one of this machine's instruction sets: " + names + ".").c_str());
}

const InstructionSet& chosen_set() {
    static const InstructionSet& set = [&]() -> const InstructionSet& {
        const char* wanted = std::getenv("VICINAL_ISA");
        return find_set(wanted ? wanted : "", "VICINAL_ISA");
    }();
    return set;
}

Number number_of(nb::dlpack::dtype type) {
    const std::pair<nb::dlpack::dtype, Number> known[] = {
        {nb::dtype<float>(), Number::f32},         {nb::dtype<double>(), Number::f64},
        {nb::dtype<std::int8_t>(), Number::i8},    {nb::dtype<std::int16_t>(), Number::i16},
        {nb::dtype<std::int32_t>(), Number::i32},  {nb::dtype<std::int64_t>(), Number::i64},
        {nb::dtype<std::uint8_t>(), Number::u8},   {nb::dtype<std::uint16_t>(), Number::u16},
        {nb::dtype<std::uint32_t>(), Number::u32}, {nb::dtype<std::uint64_t>(), Number::u64}};
    for (const auto& [dtype, number] : known) {
        if (dtype == type) return number;
    }
    throw nb::type_error("unsupported number type");
}

void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

// A 2-D array, or the tuple (data, indices, indptr, n_columns) of a CSR matrix.
Matrix matrix_of(nb::handle object) {
    Matrix x;
    if (nb::isinstance<nb::tuple>(object)) {
        auto parts = nb::cast<nb::tuple>(object);
        auto data = nb::cast<AnyVector>(parts[0]), indices = nb::cast<AnyVector>(parts[1]);
        auto indptr = nb::cast<AnyVector>(parts[2]);
        require(indices.dtype() == indptr.dtype(), "indices and indptr must have the same dtype");
        require(indices.shape(0) == data.shape(0), "indices and data must have the same length");
        x.sparse = true;
        x.wide_indices = indices.dtype() == nb::dtype<std::int64_t>();
        require(x.wide_indices || indices.dtype() == nb::dtype<std::int32_t>(), "indices must be int32 or int64");
        x.data = data.data();
        x.indices = indices.data();
        x.indptr = indptr.data();
        x.type = number_of(data.dtype());
        x.n_rows = static_cast<std::int64_t>(indptr.shape(0)) - 1;
        x.n_columns = nb::cast<std::int64_t>(parts[3]);
    } else {
        auto array = nb::cast<AnyMatrix>(object);
        x.data = array.data();
        x.type = number_of(array.dtype());
        x.n_rows = array.shape(0);
        x.n_columns = array.shape(1);
        x.row_stride = array.stride(0);
        x.column_stride = array.stride(1);
    }
    return x;
}

// Listens for Ctrl-C and tells a callback, if there is one, which share of the work is done.
Interrupted listener(const nb::object& callback) {
    return [&callback](double share) {
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) return true;
        if (callback.is_none()) return false;
        PyObject* answer = PyObject_CallFunction(callback.ptr(), "d", share);
        Py_XDECREF(answer);
        return answer == nullptr;
    };
}

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

ValueRule rule_of(const std::optional<Vector<double>>& mean_distances, double epsilon, bool unit_rows) {
    return {mean_distances ? mean_distances->data() : nullptr, epsilon, unit_rows};
}

// Groups of anchors over arrays that it keeps alive; checked once, here.
class AnchorGroups {
public:
    AnchorGroups(nb::object table, Vector<std::int64_t> anchor_ptr, Vector<std::int32_t> rows,
                 Vector<std::int64_t> feature_ptr, Vector<std::int32_t> features,
                 std::optional<Vector<double>> center, double scale, int metric,
                 std::optional<Vector<std::uint64_t>> fingerprints)
        : table_(table), anchor_ptr_(anchor_ptr), rows_(rows), feature_ptr_(feature_ptr), features_(features),
          center_(center), fingerprints_(fingerprints) {
        groups = {matrix_of(table),   static_cast<int>(anchor_ptr.shape(0)) - 1,
                  anchor_ptr.data(),  rows.data(),
                  feature_ptr.data(), features.data(),
                  center ? center->data() : nullptr, scale,
                  static_cast<Metric>(metric)};
        const std::int64_t n_columns = groups.table.n_columns, n_rows = groups.table.n_rows;
        auto length = [](const auto& array) { return static_cast<std::int64_t>(array.shape(0)); };
        require(groups.n_groups >= 1 && feature_ptr.shape(0) == anchor_ptr.shape(0), "the pointers differ in length");
        require(!center || length(*center) == n_columns, "center must have a number per column");
        require(!fingerprints || length(*fingerprints) == n_rows, "fingerprints must have a number per row");
        require(groups.anchor_ptr[groups.n_groups] == length(rows), "anchor_ptr does not fit rows");
        require(groups.feature_ptr[groups.n_groups] == length(features), "feature_ptr does not fit features");
        for (int t = 0; t < groups.n_groups; ++t) {
            require(groups.n_anchors(t) >= 1 && groups.n_features(t) >= 1, "a group is empty");
        }
        for (std::size_t i = 0; i < rows.shape(0); ++i) {
            require(rows.data()[i] >= 0 && rows.data()[i] < n_rows, "an anchor's row is out of range");
        }
        for (std::size_t i = 0; i < features.shape(0); ++i) {
            require(features.data()[i] >= 0 && features.data()[i] < n_columns, "a feature is out of range");
        }
    }

    Groups groups;
    const std::uint64_t* fingerprints() const { return fingerprints_ ? fingerprints_->data() : nullptr; }

private:
    nb::object table_;
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
                  int n_threads, nb::object callback, bool use_index, const std::string& isa) {
    const Matrix x = matrix_of(x_object);
    const Groups& groups = anchors.groups;
    require(x.n_columns == groups.table.n_columns, "x and the anchors differ in their number of columns");
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
    const ValueRule rule = rule_of(mean_distances, epsilon, unit_rows);
    const Options options{n_neighbors, n_threads, use_index, !mean_distances, anchors.fingerprints()};
    const InstructionSet& set = isa.empty() ? chosen_set() : find_set(isa, "isa");
    return result_of(with_outputs(columns, values, [&](auto* column, auto* value) {
        nb::gil_scoped_release release;
        return nearest_anchors(set, x, groups, rule, options, listener(callback), column, value);
    }));
}

nb::tuple sum_distances(nb::object x_object, const AnchorGroups& anchors, bool single, int n_threads,
                        nb::object callback, const std::string& isa) {
    const Matrix x = matrix_of(x_object);
    require(x.n_columns == anchors.groups.table.n_columns, "x and the anchors differ in their number of columns");
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
        .def(nb::init<nb::object, Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int64_t>,
                      Vector<std::int32_t>, std::optional<Vector<double>>, double, int,
                      std::optional<Vector<std::uint64_t>>>(),
             "table"_a, "anchor_ptr"_a, "rows"_a, "feature_ptr"_a, "features"_a, "center"_a.none() = nb::none(),
             "scale"_a = 1.0, "metric"_a = 0, "fingerprints"_a.none() = nb::none());
    m.def("nearest", &nearest, "x"_a, "groups"_a, "columns"_a, "values"_a, "mean_distances"_a.none() = nb::none(),
          "epsilon"_a = 0.0, "unit_rows"_a = false, "n_neighbors"_a = 1, "n_threads"_a = 1,
          "callback"_a.none() = nb::none(), "use_index"_a = true, "isa"_a = "");
    m.def("sum_distances", &sum_distances, "x"_a, "groups"_a, "single"_a, "n_threads"_a = 1,
          "callback"_a.none() = nb::none(), "isa"_a = "");
    m.def("finish", &finish, "columns"_a, "values"_a, "n_groups"_a, "mean_distances"_a, "epsilon"_a, "unit_rows"_a,
          "n_threads"_a);
    m.def("drop_missing", &drop_missing, "columns"_a, "values"_a, "indptr"_a);
    m.def("fingerprints", &fingerprints, "x"_a, "out"_a);
}
