// The k nearest anchors of every row in every group, and each group's mean distance. Knows arrays only.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels.hpp"
#include "parallel.hpp"
#include "source.hpp"

namespace vicinal {

// Groups of anchors: group t has the features features[feature_ptr[t] .. feature_ptr[t + 1]) and, as anchors, the rows
// rows[anchor_ptr[t] .. anchor_ptr[t + 1]) of a table.
struct Groups {
    Matrix table;
    int n_groups;
    const std::int64_t* anchor_ptr;
    const std::int32_t* rows;
    const std::int64_t* feature_ptr;
    const std::int32_t* features;
    const double* center;  // of every feature, or none: see Placement
    double scale;
    Metric metric;

    int n_anchors(int t) const { return static_cast<int>(anchor_ptr[t + 1] - anchor_ptr[t]); }
    int n_features(int t) const { return static_cast<int>(feature_ptr[t + 1] - feature_ptr[t]); }
};

// What a distance d becomes in the output: d itself where there are no mean distances yet, else
// max(mean - d, epsilon * mean) (Alg. 1, line 8), rows to unit length if asked for.
struct ValueRule {
    const double* mean_distances = nullptr;
    double epsilon = 0;
    bool unit_rows = false;
};

struct Options {
    int n_neighbors = 1;
    int n_threads = 1;
    bool use_index = true;
    bool sum_distances = false;
    const std::uint64_t* fingerprints = nullptr;  // of the table's rows: then a row is never its own anchor
};

struct Outcome {
    bool interrupted = false;
    std::int64_t n_missing = 0;          // entries without an anchor: column -1
    std::vector<double> sums;            // of all distances, per group
    std::vector<std::int64_t> n_summed;  // how many they are
};

// columns and values: n_rows x n_groups x n_neighbors; a column is anchor_ptr[t] plus the anchor's place in its group.
// Without columns the distances are only summed.
template <class Real, class Column>
Outcome nearest_anchors(const InstructionSet& set, const Matrix& x, const Groups& groups, const ValueRule& rule,
                        const Options& options, const Interrupted& interrupted, Column* columns, Real* values);

// Applies the rule to distances that nearest_anchors wrote without mean distances. Returns false when interrupted.
template <class Real, class Column>
bool apply_rule(std::int64_t n_rows, int n_groups, int n_neighbors, const ValueRule& rule, int n_threads,
                const Interrupted& interrupted, const Column* columns, Real* values);

}  // namespace vicinal
