// Rows that look for anchors cell by cell, and which of them are anchors of a cell themselves.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "parallel.hpp"
#include "source.hpp"
#include "tiles.hpp"

namespace vicinal {

// Numbers of rows, one row after the other, so that those of one cell can be picked out.
template <class Real>
class RowMajor {
public:
    RowMajor(std::size_t n_blocks, std::int64_t n_columns) : n_columns_(n_columns) {
        if (n_blocks) numbers_.reset(new (std::align_val_t(64)) Real[n_blocks * ROWS * n_columns]);
    }

    const Real* row(int i) const { return numbers_.get() + static_cast<std::size_t>(i) * n_columns_; }
    void prefetch(int i) const {
        constexpr int LINE = 64 / sizeof(Real), MOST = 8 * LINE;
        for (int j = 0; j < n_columns_ && j < MOST; j += LINE) __builtin_prefetch(row(i) + j);
    }

    // Takes the first rows of block b.
    void take(std::int64_t b, const Real* block, int count) {
        Real* out = numbers_.get() + static_cast<std::size_t>(b) * ROWS * n_columns_;
        for (int i = 0; i < count; ++i, out += n_columns_) {
            for (std::int64_t j = 0; j < n_columns_; ++j) out[j] = block[j * ROWS + i];
        }
    }

private:
    std::int64_t n_columns_;
    std::unique_ptr<Real[], AlignedDelete<Real>> numbers_;
};

// A chunk of rows that all threads read: feature-major in blocks, where every row is looked at, and, unless groups
// have coordinates of their own, row by row.
template <class Real>
class CellRows {
public:
    std::int64_t first = 0;
    int n_rows = 0;
    std::vector<Block<Real>> blocks;
    RowMajor<Real> by_row;

    CellRows(const Kernels<Real>& kernels, const Matrix& x, std::int64_t most_rows, bool with_rows)
        : blocks((most_rows + ROWS - 1) / ROWS, Block<Real>(kernels)),
          by_row(with_rows ? blocks.size() : 0, x.n_columns), with_rows_(with_rows), x_(x) {
        const std::size_t size = static_cast<std::size_t>(x.n_columns) * ROWS;
        by_feature_.reset(new (std::align_val_t(64)) Real[size * blocks.size()]());
        for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b].x = by_feature_.get() + b * size;
    }

    int n_blocks() const { return (n_rows + ROWS - 1) / ROWS; }
    int rows_of(int b) const { return std::min(ROWS, n_rows - b * ROWS); }
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
                if (with_rows_) by_row.take(b, blocks[b].x, count);
            };
        });
    }

    void clear() {
        for (int b = 0; b < n_blocks(); ++b) blocks[b].clear(x_, first + b * ROWS, rows_of(b));
    }

private:
    bool with_rows_;
    const Matrix& x_;
    std::unique_ptr<Real[], AlignedDelete<Real>> by_feature_;
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
