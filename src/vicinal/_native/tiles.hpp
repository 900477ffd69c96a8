// Rows of a matrix in tiles, as the kernels take them, and products of blocks with them.
#pragma once
#include <cstdint>
#include <new>
#include <vector>

#include "source.hpp"

namespace vicinal {

template <class Real>
struct AlignedDelete {
    void operator()(Real* p) const { ::operator delete[](p, std::align_val_t(64)); }
};

// Tiles of negative rows make the kernels' differences sums: 0 - x.(-a).
template <class Real>
constexpr Placement<Real> NEGATIVE{nullptr, Real(-1)};

template <class Real>
class Tiles {
public:
    int m = 0, n_tiles = 0;

    // Rows first .. first + count of the matrix.
    void pack(const Matrix& rows, std::int64_t first, int count, const Placement<Real>& place) {
        m = static_cast<int>(rows.n_columns);
        n_tiles = (count + TILE - 1) / TILE;
        data_.resize(static_cast<std::size_t>(n_tiles) * m * TILE);
        if (rows.sparse || count % TILE) std::fill(data_.begin(), data_.end(), Real(0));
        for (int t = 0; t < n_tiles; ++t) {
            pack_tile(rows, first + t * TILE, std::min(TILE, count - t * TILE), place,
                      data_.data() + static_cast<std::size_t>(t) * m * TILE);
        }
    }

    // init[i] - x.row_i for every packed row i: products[i * ROWS + row]
    void multiply(const Kernels<Real>& kernels, const Real* x, const Real* init, Real* products) const {
        kernels.dots(x, m, data_.data(), init, n_tiles * TILE, products);
    }

private:
    std::vector<Real> data_;

    static void pack_tile(const Matrix& rows, std::int64_t first, int count, const Placement<Real>& place, Real* tile) {
        if (rows.sparse) {
            for (int i = 0; i < count; ++i) {
                for_each_entry(rows, first + i, [&](std::int64_t j, auto v) { tile[j * TILE + i] = place(v, j); });
            }
            return;
        }
        with_number(rows.type, [&](auto zero) {
            const auto* p = static_cast<const decltype(zero)*>(rows.data) + first * rows.row_stride;
            const std::int64_t down = rows.row_stride, across = rows.column_stride;
            if (count == TILE) {
                for (std::int64_t j = 0; j < rows.n_columns; ++j) {
                    for (int i = 0; i < TILE; ++i) tile[j * TILE + i] = place(p[i * down + j * across], j);
                }
                return;
            }
            for (std::int64_t j = 0; j < rows.n_columns; ++j) {
                for (int i = 0; i < count; ++i) tile[j * TILE + i] = place(p[i * down + j * across], j);
            }
        });
    }
};

}  // namespace vicinal
