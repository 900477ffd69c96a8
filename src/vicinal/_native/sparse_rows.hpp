// A CSR matrix as the binding holds it between calls.
#pragma once
#include "binding.hpp"
#include "neighbors.hpp"

// A CSR matrix by rows and by columns, over arrays that it keeps alive; checked once, here.
class SparseRows {
public:
    // Calls f with the typed view; weights and bias must outlive the call.
    template <class F>
    auto with(const std::optional<Vector<double>>& weights, const std::optional<Vector<double>>& bias, F f) const {
        require(!weights || static_cast<std::int64_t>(weights->shape(0)) == n_columns,
                "weights must have a number per column");
        require(!bias || static_cast<std::int64_t>(bias->shape(0)) == n_rows, "bias must have a number per row");
        const double* w = weights ? weights->data() : nullptr;
        const double* b = bias ? bias->data() : nullptr;
        return wide_ ? f(view<std::int64_t>(w, b)) : f(view<std::int32_t>(w, b));
    }

    SparseRows(Vector<double> row_values, AnyVector row_columns, AnyVector row_starts, Vector<double> column_values,
               AnyVector column_rows, AnyVector column_starts)
        : row_values_(row_values), column_values_(column_values), row_columns_(row_columns), row_starts_(row_starts),
          column_rows_(column_rows), column_starts_(column_starts),
          n_rows(static_cast<std::int64_t>(row_starts.shape(0)) - 1),
          n_columns(static_cast<std::int64_t>(column_starts.shape(0)) - 1) {
        wide_ = row_columns.dtype() == nb::dtype<std::int64_t>();
        for (const auto& part : {row_columns, row_starts, column_rows, column_starts}) {
            require(part.dtype() == (wide_ ? nb::dtype<std::int64_t>() : nb::dtype<std::int32_t>()),
                    "indices and starts must all be int32 or all be int64");
        }
        require(n_rows >= 2 && n_columns >= 1, "there must be two rows and a column");
        with(std::nullopt, std::nullopt, [&](const auto& x) {
            check(x.row_starts, n_rows, x.row_columns, row_columns.shape(0), row_values.shape(0), n_columns);
            check(x.column_starts, n_columns, x.column_rows, column_rows.shape(0), column_values.shape(0), n_rows);
        });
    }

private:
    Vector<double> row_values_, column_values_;
    AnyVector row_columns_, row_starts_, column_rows_, column_starts_;
    bool wide_ = false;

public:
    const std::int64_t n_rows, n_columns;

private:
    template <class Index>
    WeightedRows<Index> view(const double* weights, const double* bias) const {
        const auto typed = [](const AnyVector& part) { return static_cast<const Index*>(part.data()); };
        return {n_rows,
                n_columns,
                row_values_.data(),
                typed(row_columns_),
                typed(row_starts_),
                column_values_.data(),
                typed(column_rows_),
                typed(column_starts_),
                weights,
                bias};
    }

    template <class Index>
    static void check(const Index* starts, std::int64_t count, const Index* indices, std::size_t n_indices,
                      std::size_t n_values, std::int64_t limit) {
        require(n_indices == n_values && starts[0] == 0 && static_cast<std::size_t>(starts[count]) == n_values,
                "starts do not fit the values");
        for (std::int64_t i = 0; i < count; ++i) require(starts[i] <= starts[i + 1], "starts must not fall");
        for (std::size_t e = 0; e < n_indices; ++e) {
            require(indices[e] >= 0 && indices[e] < limit, "an index is out of range");
        }
    }
};
