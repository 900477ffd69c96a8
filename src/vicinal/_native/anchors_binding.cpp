// Groups of anchors: NumPy in and out.
#include "binding.hpp"
#include "engine.hpp"

namespace {

using Numbers = std::optional<Vector<double>>;

const double* data_of(const Numbers& numbers) { return numbers ? numbers->data() : nullptr; }

// Groups of anchors over arrays that it keeps alive; checked once, here.
class AnchorGroups {
public:
    AnchorGroups(nb::object table, Vector<std::int64_t> anchor_ptr, Vector<std::int32_t> rows,
                 Vector<std::int64_t> feature_ptr, Vector<std::int32_t> features, std::optional<Vector<double>> center,
                 double scale, int metric, std::optional<Vector<std::uint64_t>> fingerprints, nb::object directions,
                 std::optional<Vector<std::int64_t>> coarse_ptr, std::optional<Vector<std::int64_t>> cell_ptr,
                 std::optional<Vector<std::int32_t>> coarse_rows)
        : table_(table), directions_(directions), anchor_ptr_(anchor_ptr), rows_(rows), feature_ptr_(feature_ptr),
          features_(features), center_(center), fingerprints_(fingerprints), coarse_ptr_(coarse_ptr),
          cell_ptr_(cell_ptr), coarse_rows_(coarse_rows) {
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
        if (coarse_ptr || cell_ptr || coarse_rows) take_cells();
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
    std::optional<Vector<std::int64_t>> coarse_ptr_, cell_ptr_;
    std::optional<Vector<std::int32_t>> coarse_rows_;

    void take_cells() {
        require(coarse_ptr_ && cell_ptr_ && coarse_rows_, "cells need coarse_ptr, cell_ptr and coarse_rows");
        require(coarse_ptr_->shape(0) == anchor_ptr_.shape(0), "coarse_ptr does not fit anchor_ptr");
        require(cell_ptr_->shape(0) == coarse_rows_->shape(0) + 1, "cell_ptr does not fit coarse_rows");
        require_pointers(*coarse_ptr_, coarse_rows_->shape(0), false, "coarse_ptr does not fit coarse_rows");
        require_pointers(*cell_ptr_, rows_.shape(0), false, "cell_ptr does not fit rows");
        require_below(*coarse_rows_, groups.table.n_rows, "a coarse anchor's row is out of range");
        groups.coarse_ptr = coarse_ptr_->data();
        groups.cell_ptr = cell_ptr_->data();
        groups.coarse_rows = coarse_rows_->data();
        for (int t = 0; t <= groups.n_groups; ++t) {
            require(groups.cell_ptr[groups.coarse_ptr[t]] == groups.anchor_ptr[t], "a cell is in two groups");
        }
    }
};

// The fewest anchors that a row may have to choose from.
int fewest_anchors(const Groups& groups) {
    const std::int64_t* ptr = groups.two_levels() ? groups.cell_ptr : groups.anchor_ptr;
    const std::int64_t count = groups.two_levels() ? groups.coarse_ptr[groups.n_groups] : groups.n_groups;
    std::int64_t fewest = ptr[1] - ptr[0];
    for (std::int64_t i = 1; i < count; ++i) fewest = std::min(fewest, ptr[i + 1] - ptr[i]);
    return static_cast<int>(fewest);
}

nb::tuple result_of(const Outcome& outcome) {
    if (outcome.interrupted) throw nb::python_error();
    return nb::make_tuple(nb::cast(outcome.sums), nb::cast(outcome.n_summed), outcome.n_missing);
}

nb::tuple nearest(nb::object x_object, const AnchorGroups& anchors, Output columns, Output values,
                  Numbers mean_distances, double epsilon, bool unit_rows, int n_neighbors, int n_threads,
                  nb::object callback, bool use_index, bool row_means, bool sum_distances, Numbers widths,
                  const std::string& isa) {
    const Matrix x = matrix_of(x_object);
    const Groups& groups = anchors.groups;
    require(x.n_columns == groups.n_columns(), "x and the anchors differ in their number of columns");
    require(x.n_rows >= 1 && n_neighbors >= 1, "there must be at least one row and one neighbour");
    require(!x.sparse || !groups.center, "a center cannot move the zeros of a CSR matrix");
    require(fewest_anchors(groups) >= n_neighbors, "a group or cell has fewer anchors than n_neighbors");
    require(!mean_distances || static_cast<int>(mean_distances->shape(0)) == groups.n_groups,
            "mean_distances must have a number per group");
    require(static_cast<std::int64_t>(values.shape(0)) == x.n_rows &&
                static_cast<std::int64_t>(values.shape(1)) == static_cast<std::int64_t>(groups.n_groups) * n_neighbors,
            "outputs have a wrong shape");
    require(!row_means || !mean_distances, "values go by the groups' means or by the rows', not by both");
    require(!widths || static_cast<int>(widths->shape(0)) == groups.n_groups, "widths must have a number per group");
    const ValueRule rule{data_of(mean_distances), epsilon, unit_rows, row_means, data_of(widths)};
    const Options options{n_neighbors, n_threads, use_index, sum_distances && !mean_distances && !row_means,
                          anchors.fingerprints()};
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

void score_cells(nb::object x_object, const AnchorGroups& anchors, Vector<double> mean_distances,
                 nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> sums,
                 std::optional<Vector<double>> emptiness, std::optional<Vector<double>> nearness, bool single,
                 int n_threads, nb::object callback, const std::string& isa) {
    const Matrix x = matrix_of(x_object);
    const Groups& groups = anchors.groups;
    const std::size_t n_anchors = groups.anchor_ptr[groups.n_groups];
    require(x.n_columns == groups.n_columns(), "x and the anchors differ in their number of columns");
    require(!x.sparse || !groups.center, "a center cannot move the zeros of a CSR matrix");
    require(static_cast<int>(mean_distances.shape(0)) == groups.n_groups,
            "mean_distances must have a number per group");
    require(static_cast<std::int64_t>(sums.shape(0)) == x.n_rows && sums.shape(1) == N_CELL_SCORES,
            "sums has a wrong shape");
    require((!emptiness || emptiness->shape(0) == n_anchors) && (!nearness || nearness->shape(0) == n_anchors),
            "emptiness and nearness must have a number per anchor");
    const CellScores scores{mean_distances.data(), emptiness ? emptiness->data() : nullptr,
                            nearness ? nearness->data() : nullptr, sums.data()};
    const Options options{1, n_threads, true, false, anchors.fingerprints(), &scores};
    const InstructionSet& set = isa.empty() ? chosen_set() : find_set(isa, "isa");
    auto run = [&](auto* nothing) {
        nb::gil_scoped_release release;
        return nearest_anchors(set, x, groups, {}, options, listener(callback), static_cast<std::int32_t*>(nullptr),
                               nothing);
    };
    const Outcome outcome = single ? run(static_cast<float*>(nullptr)) : run(static_cast<double*>(nullptr));
    if (outcome.interrupted) throw nb::python_error();
}

void finish(Output columns, Output values, int n_groups, Vector<double> mean_distances, double epsilon, bool unit_rows,
            int n_threads, Numbers widths) {
    require(static_cast<int>(mean_distances.shape(0)) == n_groups && values.shape(1) % n_groups == 0,
            "mean_distances must have a number per group");
    require(!widths || static_cast<int>(widths->shape(0)) == n_groups, "widths must have a number per group");
    const ValueRule rule{mean_distances.data(), epsilon, unit_rows, false, data_of(widths)};
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

void bind_anchors(nb::module_& m) {
    nb::class_<AnchorGroups>(m, "AnchorGroups")
        .def(nb::init<nb::object, Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int64_t>,
                      Vector<std::int32_t>, std::optional<Vector<double>>, double, int,
                      std::optional<Vector<std::uint64_t>>, nb::object, std::optional<Vector<std::int64_t>>,
                      std::optional<Vector<std::int64_t>>, std::optional<Vector<std::int32_t>>>(),
             "table"_a, "anchor_ptr"_a, "rows"_a, "feature_ptr"_a, "features"_a, "center"_a.none() = nb::none(),
             "scale"_a = 1.0, "metric"_a = 0, "fingerprints"_a.none() = nb::none(), "directions"_a.none() = nb::none(),
             "coarse_ptr"_a.none() = nb::none(), "cell_ptr"_a.none() = nb::none(), "coarse_rows"_a.none() = nb::none());
    m.def("nearest", &nearest, "x"_a, "groups"_a, "columns"_a, "values"_a, "mean_distances"_a.none() = nb::none(),
          "epsilon"_a = 0.0, "unit_rows"_a = false, "n_neighbors"_a = 1, "n_threads"_a = 1,
          "callback"_a.none() = nb::none(), "use_index"_a = true, "row_means"_a = false, "sum_distances"_a = true,
          "widths"_a.none() = nb::none(), "isa"_a = "");
    m.def("sum_distances", &sum_distances, "x"_a, "groups"_a, "single"_a, "n_threads"_a = 1,
          "callback"_a.none() = nb::none(), "isa"_a = "");
    m.def("score_cells", &score_cells, "x"_a, "groups"_a, "mean_distances"_a, "sums"_a,
          "emptiness"_a.none() = nb::none(), "nearness"_a.none() = nb::none(), "single"_a = true, "n_threads"_a = 1,
          "callback"_a.none() = nb::none(), "isa"_a = "");
    m.def("finish", &finish, "columns"_a, "values"_a, "n_groups"_a, "mean_distances"_a, "epsilon"_a, "unit_rows"_a,
          "n_threads"_a, "widths"_a.none() = nb::none());
    m.def("drop_missing", &drop_missing, "columns"_a, "values"_a, "indptr"_a);
    m.def("fingerprints", &fingerprints, "x"_a, "out"_a);
}
