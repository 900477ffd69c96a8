// Rows that look for anchors cell by cell, and which of them are anchors of a cell themselves.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "parallel.hpp"
#include "source.hpp"
#include "tiles.hpp"

namespace vicinal {

// A chunk of rows that all threads read: feature-major in blocks, where every row is looked at, and row by row, where
// those of one cell are picked out.
template <class Real>
class CellRows {
public:
    std::int64_t first = 0;
    int n_rows = 0;
    std::vector<Block<Real>> blocks;

    CellRows(const Kernels<Real>& kernels, const Matrix& x, std::int64_t most_rows)
        : x_(x), blocks((most_rows + ROWS - 1) / ROWS, Block<Real>(kernels)) {
        const std::size_t size = static_cast<std::size_t>(x.n_columns) * ROWS;
        by_feature_.reset(new (std::align_val_t(64)) Real[size * blocks.size()]());
        by_row_.reset(new (std::align_val_t(64)) Real[size * blocks.size()]);
        for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b].x = by_feature_.get() + b * size;
    }

    int n_blocks() const { return (n_rows + ROWS - 1) / ROWS; }
    int rows_of(int b) const { return std::min(ROWS, n_rows - b * ROWS); }
    const Real* row(int i) const { return by_row_.get() + static_cast<std::size_t>(i) * x_.n_columns; }
    void prefetch(int i) const {
        constexpr int LINE = 64 / sizeof(Real), MOST = 8 * LINE;
        for (int j = 0; j < x_.n_columns && j < MOST; j += LINE) __builtin_prefetch(row(i) + j);
    }
    bool is_missing(int i) const { return blocks[i / ROWS].missing >> (i % ROWS) & 1; }
    std::uint64_t fingerprint(int i) const { return blocks[i / ROWS].fingerprints[i % ROWS]; }

    // Rows from..to of x. Returns false when interrupted.
    bool load(std::int64_t from, std::int64_t to, const Placement<Real>& place, Metric metric, bool with_fingerprints,
              int n_threads, const Interrupted& interrupted) {
        first = from;
        n_rows = static_cast<int>(to - from);
        return run_parallel(n_blocks(), n_threads, interrupted, [&] {
            return [&](std::int64_t b, const std::atomic<bool>&) {
                const int count = rows_of(b);
                blocks[b].load(x_, first + b * ROWS, count, place, with_fingerprints);
                if (metric == Metric::cosine) blocks[b].level(x_, first + b * ROWS, count, Real(1));
                Real* out = by_row_.get() + static_cast<std::size_t>(b) * ROWS * x_.n_columns;
                for (int i = 0; i < count; ++i, out += x_.n_columns) {
                    for (std::int64_t j = 0; j < x_.n_columns; ++j) out[j] = blocks[b].x[j * ROWS + i];
                }
            };
        });
    }

    void clear() {
        for (int b = 0; b < n_blocks(); ++b) blocks[b].clear(x_, first + b * ROWS, rows_of(b));
    }

private:
    const Matrix& x_;
    std::unique_ptr<Real[], AlignedDelete<Real>> by_feature_, by_row_;
};

// The fingerprints of one cell's anchors. Most rows are none of them, which one bit tells.
class CellFingerprints {
public:
    void take(const std::uint64_t* fingerprints, const std::int32_t* rows, int count) {
        std::size_t n_bits = 1024;
        while (n_bits < 32 * static_cast<std::size_t>(count)) n_bits *= 2;
        bits_.assign(n_bits / 64, 0);
        values_.resize(count);
        for (int a = 0; a < count; ++a) {
            values_[a] = fingerprints[rows[a]];
            bits_[place(values_[a]) / 64] |= std::uint64_t(1) << (values_[a] % 64);
        }
    }

    // Calls f with each anchor that has the fingerprint; says whether there are any.
    template <class F>
    bool each(std::uint64_t fingerprint, F f) const {
        if (!(bits_[place(fingerprint) / 64] >> (fingerprint % 64) & 1)) return false;
        bool any = false;
        for (std::size_t a = 0; a < values_.size(); ++a) {
            if (values_[a] != fingerprint) continue;
            f(static_cast<int>(a));
            any = true;
        }
        return any;
    }

private:
    std::vector<std::uint64_t> bits_, values_;

    std::size_t place(std::uint64_t fingerprint) const { return fingerprint & (bits_.size() * 64 - 1); }
};

}  // namespace vicinal
