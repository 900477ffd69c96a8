// The columns of a table as a search for thresholds wants them: rows sorted by value. Knows arrays only.
#pragma once
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace vicinal {

// A CSC matrix.
template <class Index>
struct ColumnEntries {
    std::int64_t n_rows, n_columns;
    const double* values;
    const Index* rows;
    const Index* starts;
};

// Rows of a column that have one value are a bin. The bin of the base value, which is 0 where the column has zeros and
// otherwise its most frequent value, is not kept. Columns of one value are left out, those that reach the most rows
// come first.
struct SortedColumns {
    std::int64_t n_rows = 0;
    std::vector<std::int32_t> names;       // a column's number in the table
    std::vector<double> base;              // a column's base value
    std::vector<std::int64_t> first_bin;   // of a column; one more than there are columns
    std::vector<std::int64_t> above_base;  // a column's first bin above its base value
    std::vector<double> values;            // of bins, which ascend within a column
    std::vector<std::int64_t> starts;      // of bins' entries; one more than there are bins
    std::vector<std::int32_t> rows;        // of entries, which ascend within a bin

    std::int64_t n_columns() const { return static_cast<std::int64_t>(names.size()); }
    std::int64_t n_bins() const { return static_cast<std::int64_t>(values.size()); }
    std::int64_t count(std::int64_t column) const { return starts[first_bin[column + 1]] - starts[first_bin[column]]; }
    // The most rows that a rule "above this threshold" can name: all but few where a threshold lies below the base.
    std::int64_t reach(std::int64_t column) const {
        return above_base[column] > first_bin[column] ? n_rows : count(column);
    }
};

// Returns false when interrupted.
template <class Index>
bool sort_columns(const ColumnEntries<Index>& table, int n_threads, const Interrupted& interrupted, SortedColumns& out);

}  // namespace vicinal
