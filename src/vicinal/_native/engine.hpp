// The k nearest anchors of every row in every group, and each group's mean distance. Knows arrays only.
#pragma once
#include <cstdint>
#include <vector>

#include "cell_scores.hpp"
#include "kernels.hpp"
#include "output.hpp"
#include "parallel.hpp"
#include "source.hpp"

namespace vicinal {

// Groups of anchors: group t has the features features[feature_ptr[t] .. feature_ptr[t + 1]) and, as anchors, the rows
// rows[anchor_ptr[t] .. anchor_ptr[t + 1]) of a table. With directions, rows are projected first: group t's features
// are then counted among the products of a row with the directions t * d .. (t + 1) * d, which the table holds, too.
struct Groups {
    Matrix table;
    Matrix directions;  // none: no data
    int n_groups;
    const std::int64_t* anchor_ptr;
    const std::int32_t* rows;
    const std::int64_t* feature_ptr;
    const std::int32_t* features;
    const double* center;  // of every feature, or none: see Placement
    double scale;
    Metric metric;
    // Two levels: group t's cells are coarse_ptr[t] .. coarse_ptr[t + 1), cell c holds the anchors cell_ptr[c] ..
    // cell_ptr[c + 1), and a row looks for anchors in the cell whose row coarse_rows[c] of the table is nearest to it.
    const std::int64_t* coarse_ptr = nullptr;
    const std::int64_t* cell_ptr = nullptr;
    const std::int32_t* coarse_rows = nullptr;

    bool two_levels() const { return coarse_ptr != nullptr; }
    int n_anchors(int t) const { return static_cast<int>(anchor_ptr[t + 1] - anchor_ptr[t]); }
    bool projected() const { return directions.data != nullptr; }
    std::int64_t n_columns() const { return projected() ? directions.n_columns : table.n_columns; }
    int n_features(int t) const { return static_cast<int>(feature_ptr[t + 1] - feature_ptr[t]); }
};

struct Options {
    int n_neighbors = 1;
    int n_threads = 1;
    bool use_index = true;
    bool sum_distances = false;
    const std::uint64_t* fingerprints = nullptr;  // of the table's rows: then a row is never its own anchor
    const CellScores* scores = nullptr;           // what takes the nearest anchors in place of columns and values
};

struct Outcome {
    bool interrupted = false;
    std::int64_t n_missing = 0;          // entries without an anchor: column -1
    std::vector<double> sums;            // of all distances, per group
    std::vector<std::int64_t> n_summed;  // how many they are
};

// columns and values: n_rows x n_groups x n_neighbors; a column is anchor_ptr[t] plus the anchor's place in its group.
// Without columns the distances are only summed, or scored.
template <class Real, class Column>
Outcome nearest_anchors(const InstructionSet& set, const Matrix& x, const Groups& groups, const ValueRule& rule,
                        const Options& options, const Interrupted& interrupted, Column* columns, Real* values);

// Applies the rule to distances that nearest_anchors wrote without mean distances. Returns false when interrupted.
template <class Real, class Column>
bool apply_rule(std::int64_t n_rows, int n_groups, int n_neighbors, const ValueRule& rule, int n_threads,
                const Interrupted& interrupted, Column* columns, Real* values);

}  // namespace vicinal
