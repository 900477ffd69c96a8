// Blocks of rows in a group's coordinates: their products with its directions, or the rows as they are.
#pragma once
#include <cstdint>
#include <vector>

#include "engine.hpp"
#include "tiles.hpp"

namespace vicinal {

template <class Real>
class Projection {
public:
    Projection(const Kernels<Real>& kernels, const Groups& groups) : kernels_(kernels), groups_(groups) {}

    // The table holds products of rows that were placed before.
    static Placement<Real> of_table(const Groups& groups, const Placement<Real>& of_rows) {
        return groups.projected() ? Placement<Real>{} : of_rows;
    }

    void choose(int t) {
        if (!groups_.projected()) return;
        const int d = static_cast<int>(groups_.table.n_columns);
        directions_.pack(groups_.directions, static_cast<std::int64_t>(t) * d, d, NEGATIVE<Real>);
        coordinates_.resize(static_cast<std::size_t>(directions_.n_tiles) * TILE * ROWS);
    }

    // Valid until the next call.
    const Real* operator()(const Real* block) {
        if (!groups_.projected()) return block;
        directions_.multiply(kernels_, block, nullptr, coordinates_.data());
        return coordinates_.data();
    }

private:
    const Kernels<Real>& kernels_;
    const Groups& groups_;
    Tiles<Real> directions_;
    std::vector<Real> coordinates_;
};

}  // namespace vicinal
