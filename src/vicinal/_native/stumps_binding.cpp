// Stumps and pairs of them, and pairs of rows in order: NumPy in and out.
#include "binding.hpp"
#include "ordered_pairs.hpp"
#include "stumps.hpp"

namespace {

using Marks = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rule = std::tuple<std::int64_t, double, std::int64_t, double, double>;

class Stumps {
public:
    Stumps(Vector<double> values, AnyVector rows, AnyVector starts, std::int64_t n_rows, bool by_rows, int n_threads,
           nb::object callback, std::optional<Vector<std::int32_t>> parts, std::int64_t n_parts) {
        const auto n_columns = static_cast<std::int64_t>(starts.shape(0)) - 1;
        require(n_rows >= 1 && n_columns >= 1 && n_threads >= 1, "there must be a row, a column and a thread");
        require(n_rows <= INT32_MAX && n_columns <= INT32_MAX, "there are too many rows or columns");
        require(values.shape(0) == rows.shape(0), "values and rows must have the same length");
        require(!by_rows || values.shape(0) <= INT32_MAX, "there are too many entries for pairs of columns");
        require(n_parts >= 1 && (parts.has_value() || n_parts == 1), "parts of columns must be named");
        if (parts) {
            require(static_cast<std::int64_t>(parts->shape(0)) == n_columns, "there must be a part per column");
            for (std::int64_t c = 0; c < n_columns; ++c) {
                require(0 <= parts->data()[c] && parts->data()[c] < n_parts, "a part is out of range");
            }
        }
        SortedColumns columns;
        const bool finished = with_indices(rows, starts, [&](auto* typed_rows, auto* typed_starts) {
            using Index = std::remove_const_t<std::remove_pointer_t<decltype(typed_rows)>>;
            require(typed_starts[0] == 0 && static_cast<std::size_t>(typed_starts[n_columns]) == values.shape(0),
                    "starts do not fit the values");
            for (std::int64_t c = 0; c < n_columns; ++c) {
                require(typed_starts[c] <= typed_starts[c + 1], "starts must not fall");
            }
            for (std::size_t e = 0; e < values.shape(0); ++e) {
                require(0 <= typed_rows[e] && typed_rows[e] < n_rows, "a row is out of range");
            }
            const ColumnEntries<Index> table{n_rows, n_columns, values.data(), typed_rows, typed_starts};
            nb::gil_scoped_release release;
            return sort_columns(table, n_threads, listener(callback), columns);
        });
        if (!finished) throw nb::python_error();
        search_.emplace(std::move(columns), by_rows, parts ? parts->data() : nullptr, n_parts);
        n_parts_ = n_parts;
        marks_.resize(static_cast<std::size_t>(n_rows));
        by_rows_ = by_rows;
    }

    // (column, threshold, second column, its threshold, pull); without one, -1 and minus infinity: all rows are above.
    Rule best(Vector<double> pulls, int n_first, Marks out, int n_threads, nb::object callback, std::int64_t part) {
        const std::size_t n_rows = marks_.size();
        require(pulls.shape(0) == n_rows && out.shape(0) == n_rows, "there must be a pull and a mark per row");
        require(n_first >= 0 && n_threads >= 1 && (n_first == 0 || by_rows_), "pairs need columns by rows");
        require(0 <= part && part < n_parts_, "there is no such part");
        Ranker found;
        bool finished;
        {
            nb::gil_scoped_release release;
            finished = search_->best(pulls.data(), part, n_first, n_threads, listener(callback), found);
        }
        if (!finished) throw nb::python_error();
        if (found.first.column < 0) return {-1, -INFINITY, -1, -INFINITY, 0.0};
        search_->mark(found.first, out.data());
        Rule rule{name(found.first), search_->threshold(found.first), -1, -INFINITY, found.decisive().pull};
        if (found.second) {
            search_->mark(*found.second, marks_.data());
            for (std::size_t row = 0; row < n_rows; ++row) out.data()[row] &= marks_[row];
            std::get<2>(rule) = name(*found.second);
            std::get<3>(rule) = search_->threshold(*found.second);
        }
        return rule;
    }

    std::int64_t n_evaluated() const { return search_->n_evaluated(); }

private:
    std::optional<StumpSearch> search_;
    std::vector<std::uint8_t> marks_;
    bool by_rows_ = false;
    std::int64_t n_parts_ = 1;

    std::int64_t name(const Stump& stump) const { return search_->columns().names[stump.column]; }
};

double sum_of_ordered_pairs(Vector<double> scores, Vector<double> grades, Vector<std::int32_t> ranks,
                            Vector<double> weights) {
    const std::size_t n = scores.shape(0);
    require(grades.shape(0) == n && ranks.shape(0) == n && weights.shape(0) == n, "arrays must have the same length");
    std::int32_t n_ranks = 0;
    for (std::size_t i = 0; i < n; ++i) {
        require(0 <= ranks.data()[i] && ranks.data()[i] < static_cast<std::int64_t>(n), "a rank is out of range");
        n_ranks = std::max(n_ranks, ranks.data()[i] + 1);
    }
    return ordered_pairs(static_cast<std::int64_t>(n), scores.data(), grades.data(), ranks.data(), weights.data(),
                         n_ranks);
}

}  // namespace

void bind_stumps(nb::module_& m) {
    nb::class_<Stumps>(m, "Stumps")
        .def(nb::init<Vector<double>, AnyVector, AnyVector, std::int64_t, bool, int, nb::object,
                      std::optional<Vector<std::int32_t>>, std::int64_t>(),
             "values"_a, "rows"_a, "starts"_a, "n_rows"_a, "by_rows"_a = false, "n_threads"_a = 1,
             "callback"_a.none() = nb::none(), "parts"_a.none() = nb::none(), "n_parts"_a = 1)
        .def("best", &Stumps::best, "pulls"_a, "n_first"_a, "out"_a, "n_threads"_a = 1,
             "callback"_a.none() = nb::none(), "part"_a = 0)
        .def_prop_ro("n_evaluated", &Stumps::n_evaluated);
    m.def("ordered_pairs", &sum_of_ordered_pairs, "scores"_a, "grades"_a, "ranks"_a, "weights"_a);
}
