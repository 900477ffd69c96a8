// A linear model on rows and on codes: NumPy in and out.
#include "binding.hpp"
#include "linear.hpp"

namespace {

template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void set_values(LinearRows& rows, const AnyMatrix& values) {
    rows.kind = RowKind::dense;
    rows.doubles = values.dtype() == nb::dtype<double>();
    require(rows.doubles || values.dtype() == nb::dtype<float>(), "values must be float32 or float64");
    require(values.stride(1) == 1 && values.stride(0) == static_cast<std::int64_t>(values.shape(1)),
            "rows must lie one after the other");
    rows.values = values.data();
    rows.n_rows = static_cast<std::int64_t>(values.shape(0));
    rows.n_columns = static_cast<std::int64_t>(values.shape(1));
}

// (values, columns, starts, number of columns)
void set_csr(LinearRows& rows, const nb::tuple& parts) {
    const auto values = nb::cast<AnyVector>(parts[0]);
    const auto columns = nb::cast<Vector<std::int32_t>>(parts[1]);
    const auto starts = nb::cast<Vector<std::int64_t>>(parts[2]);
    rows.kind = RowKind::csr;
    rows.doubles = values.dtype() == nb::dtype<double>();
    require(rows.doubles || values.dtype() == nb::dtype<float>(), "values must be float32 or float64");
    require(values.shape(0) == columns.shape(0), "values and columns differ in length");
    require_pointers(starts, values.shape(0), true, "starts do not fit the values");
    rows.n_rows = static_cast<std::int64_t>(starts.shape(0)) - 1;
    rows.n_columns = nb::cast<std::int64_t>(parts[3]);
    require_below(columns, rows.n_columns, "a column is out of range");
    rows.values = values.data();
    rows.columns = columns.data();
    rows.starts = starts.data();
}

template <class Code>
const Code* codes_of(const Table<Code>& codes, const Vector<std::int32_t>& sizes, std::size_t first,
                     const LinearRows& rows) {
    const std::size_t width = codes.shape(1);
    require(static_cast<std::int64_t>(codes.shape(0)) == rows.n_rows, "codes differ in their number of rows");
    const Code* all = codes.data();
    const std::int32_t* most = sizes.data() + first;
    for (std::size_t i = 0; i < codes.shape(0); ++i) {
        std::uint32_t outside = 0;  // without a branch for each code
        for (std::size_t g = 0; g < width; ++g) {
            outside |= static_cast<std::uint32_t>(all[i * width + g]) >= static_cast<std::uint32_t>(most[g]);
        }
        require(!outside, "a code is out of range");
    }
    return all;
}

// (codes of one byte, of two, of four, values or None, first columns, sizes, scales, number of columns)
void set_coded(LinearRows& rows, const nb::tuple& parts) {
    const auto bytes = nb::cast<Table<std::uint8_t>>(parts[0]);
    const auto pairs = nb::cast<Table<std::uint16_t>>(parts[1]);
    const auto quads = nb::cast<Table<std::int32_t>>(parts[2]);
    const auto offsets = nb::cast<Vector<std::int32_t>>(parts[4]);
    const auto sizes = nb::cast<Vector<std::int32_t>>(parts[5]);
    const auto scales = nb::cast<Vector<float>>(parts[6]);
    const std::size_t widths[] = {bytes.shape(1), pairs.shape(1), quads.shape(1)};
    const std::size_t n_groups = widths[0] + widths[1] + widths[2];
    require(offsets.shape(0) == n_groups && sizes.shape(0) == n_groups && scales.shape(0) == n_groups,
            "first columns, sizes and scales must fit the groups");
    rows.kind = RowKind::coded;
    rows.n_rows = static_cast<std::int64_t>(bytes.shape(0));
    rows.n_columns = nb::cast<std::int64_t>(parts[7]);
    for (std::size_t g = 0; g < n_groups; ++g) {
        const std::int64_t first = offsets.data()[g];
        require(first >= 0 && first + sizes.data()[g] <= rows.n_columns, "a group has columns that there are not");
    }
    for (int run = 0; run < 3; ++run) rows.runs[run] = static_cast<std::int32_t>(widths[run]);
    rows.bytes = codes_of(bytes, sizes, 0, rows);
    rows.pairs = codes_of(pairs, sizes, widths[0], rows);
    rows.quads = codes_of(quads, sizes, widths[0] + widths[1], rows);
    rows.offsets = offsets.data();
    rows.scales = scales.data();
    if (!parts[3].is_none()) {
        const auto values = nb::cast<Table<std::uint8_t>>(parts[3]);
        require(static_cast<std::int64_t>(values.shape(0)) == rows.n_rows && values.shape(1) == n_groups,
                "there must be a value per row and group");
        rows.values = values.data();
    }
}

LinearRows linear_rows(const nb::object& object) {
    LinearRows rows;
    if (!nb::isinstance<nb::tuple>(object)) {
        set_values(rows, nb::cast<AnyMatrix>(object));
    } else {
        const auto parts = nb::cast<nb::tuple>(object);
        require(parts.size() == 4 || parts.size() == 8, "rows must be an array, or the parts of CSR or of coded rows");
        parts.size() == 4 ? set_csr(rows, parts) : set_coded(rows, parts);
    }
    return rows;
}

template <class Real>
using Duals = nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Reports = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using MaybeLabels = std::optional<Vector<std::int32_t>>;
using MaybeTargets = std::optional<Table<double>>;

void check_outputs(const LinearProblem& problem, const MaybeLabels& labels, const MaybeTargets& targets,
                   const Vector<double>& weights, const Table<double>& factors) {
    const auto n = static_cast<std::size_t>(problem.rows.n_rows), k = static_cast<std::size_t>(problem.n_outputs);
    require(labels.has_value() != targets.has_value(), "there must be either labels or targets");
    require(targets.has_value() == (problem.loss == LinearLoss::huber), "the loss does not fit labels or targets");
    require(!labels || labels->shape(0) == n, "there must be a label per row");
    require(!targets || (targets->shape(0) == n && targets->shape(1) == k), "there must be targets per row");
    require(weights.shape(0) == n, "there must be a weight per row");
    require(factors.shape(0) == 2 && factors.shape(1) == k, "there must be two factors per output");
}

void check_batches(const Vector<std::int32_t>& outputs, const Vector<std::int32_t>& starts, int n_outputs) {
    require(starts.shape(0) >= 2 && starts.data()[0] == 0, "there must be a batch");
    for (std::size_t b = 1; b < starts.shape(0); ++b) {
        const std::int32_t size = starts.data()[b] - starts.data()[b - 1];
        require(size >= 1 && size <= MOST_LANES, "a batch has one to eight outputs");
    }
    require(starts.data()[starts.shape(0) - 1] == static_cast<std::int32_t>(outputs.shape(0)),
            "batches do not fit the outputs");
    std::vector<bool> seen(static_cast<std::size_t>(n_outputs), false);
    require(static_cast<int>(outputs.shape(0)) == n_outputs, "each output is in one batch");
    for (std::size_t o = 0; o < outputs.shape(0); ++o) {
        const std::int32_t output = outputs.data()[o];
        require(output >= 0 && output < n_outputs && !seen[static_cast<std::size_t>(output)],
                "each output is in one batch");
        seen[static_cast<std::size_t>(output)] = true;
    }
}

template <class Real>
void fit_linear(const nb::object& rows, int loss, double knee, double constant, MaybeLabels labels,
                MaybeTargets targets, Vector<double> weights, Table<double> factors, Vector<std::int32_t> outputs,
                Vector<std::int32_t> batch_starts, double tol, int max_epochs, std::uint64_t seed, Duals<Real> duals,
                Reports sums, Reports reports, double shrink, MaybeTargets base, int n_threads, nb::object callback,
                const std::string& isa) {
    LinearProblem problem;
    problem.rows = linear_rows(rows);
    require(loss >= 0 && loss <= 3, "there is no such loss");
    problem.loss = static_cast<LinearLoss>(loss);
    problem.knee = knee;
    problem.constant = constant;
    problem.n_outputs = static_cast<int>(factors.shape(1));
    check_outputs(problem, labels, targets, weights, factors);
    check_batches(outputs, batch_starts, problem.n_outputs);
    const auto k = static_cast<std::size_t>(problem.n_outputs), n = static_cast<std::size_t>(problem.rows.n_rows);
    require(duals.shape(0) == n && duals.shape(1) == k, "there must be a dual per row and output");
    const std::size_t width = static_cast<std::size_t>(problem.rows.n_columns) + 1;
    require(sums.shape(0) == k && sums.shape(1) == width, "there must be sums per output");
    require(!base || (base->shape(0) == k && base->shape(1) == width), "there must be a base per output");
    require(shrink >= 0, "weights cannot be shrunk by less than nothing");
    require(reports.shape(0) + 1 == batch_starts.shape(0) && reports.shape(1) == 3, "there must be a report per batch");
    require(n_threads >= 1 && max_epochs >= 1, "there must be a thread and an epoch");
    problem.labels = labels ? labels->data() : nullptr;
    problem.targets = targets ? targets->data() : nullptr;
    problem.weights = weights.data();
    problem.positive = factors.data();
    problem.negative = factors.data() + k;
    problem.shrink = shrink;
    problem.base = base ? base->data() : nullptr;
    problem.outputs = outputs.data();
    problem.batch_starts = batch_starts.data();
    problem.n_batches = static_cast<int>(reports.shape(0));
    const InstructionSet& set = isa.empty() ? chosen_set() : find_set(isa, "isa");
    const LinearLimits limits = {tol, max_epochs, seed};
    static_assert(sizeof(LinearReport) == 3 * sizeof(double));
    bool finished;
    {
        nb::gil_scoped_release release;
        finished = solve_linear<Real>(set, problem, limits, n_threads, listener(callback), duals.data(), sums.data(),
                                      reinterpret_cast<LinearReport*>(reports.data()));
    }
    if (!finished) throw nb::python_error();
}

template <class Real>
void bind_fit(nb::module_& m) {
    m.def("fit_linear", &fit_linear<Real>, "rows"_a, "loss"_a, "knee"_a, "constant"_a, "labels"_a.none(),
          "targets"_a.none(), "weights"_a, "factors"_a, "outputs"_a, "batch_starts"_a, "tol"_a, "max_epochs"_a,
          "seed"_a, "duals"_a.noconvert(), "sums"_a.noconvert(), "reports"_a.noconvert(), "shrink"_a = 0.0,
          "base"_a.none() = nb::none(), "n_threads"_a = 1, "callback"_a.none() = nb::none(), "isa"_a = "");
}

}  // namespace

void bind_linear(nb::module_& m) {
    bind_fit<float>(m);
    bind_fit<double>(m);
}
