// The nearest landmarks of every row, each landmark with a linear subspace of its own. Knows arrays only.
#pragma once
#include <cstdint>

#include "kernels.hpp"
#include "output.hpp"
#include "parallel.hpp"
#include "source.hpp"

namespace vicinal {

// Landmark p's subspace has the directions direction_ptr[p] .. direction_ptr[p + 1). They are rows of a table or, with
// neighbors, combinations of the table's rows neighbors[p * k .. (p + 1) * k): direction j of landmark p weighs
// neighbour f by coefficients[k * direction_ptr[p] + f * q + j], q being the number of its directions. `own` has the
// landmark's product with each direction. Iteration t draws the landmarks drawn[drawn_ptr[t] .. drawn_ptr[t + 1]).
struct Subspaces {
    Matrix table;
    int n_landmarks, n_neighbors, n_iterations;
    const std::int64_t* direction_ptr;
    const double* own;
    const std::int32_t* neighbors;  // or none
    Matrix coefficients;            // one row
    const std::int64_t* drawn_ptr;
    const std::int32_t* drawn;
    const double* center;
    double scale;
    Metric metric;

    // What distances are divided by in the end; a cosine has no scale.
    double unit() const { return metric == Metric::cosine ? 1 : scale; }
    int n_directions(int p) const { return static_cast<int>(direction_ptr[p + 1] - direction_ptr[p]); }
    int n_drawn(int t) const { return static_cast<int>(drawn_ptr[t + 1] - drawn_ptr[t]); }
};

struct SubspaceOptions {
    int n_nearest = 1;
    int n_threads = 1;
    std::int64_t memory = 160 << 20;  // bytes that all threads together hold, unless a block of rows needs more
};

// Returns false when interrupted. A column is drawn_ptr[t] plus the landmark's place among those of its iteration.
template <class Real, class Column>
bool nearest_landmarks(const InstructionSet& set, const Matrix& x, const Subspaces& subspaces, const ValueRule& rule,
                       const SubspaceOptions& options, const Interrupted& interrupted, Column* columns, Real* values);

// Products of the rows (placed by center and scale) with directions: out is n_rows x n_directions.
template <class Real>
bool project(const InstructionSet& set, const Matrix& x, const Matrix& directions, const double* center, double scale,
             int n_threads, const Interrupted& interrupted, Real* out);

}  // namespace vicinal
