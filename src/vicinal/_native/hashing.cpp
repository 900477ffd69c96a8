#include "hashing.hpp"

#include <cmath>
#include <memory>

namespace vicinal {
namespace {

constexpr int PLACES = 4096;                  // hashed at a time: 16 KB
constexpr std::int64_t SUMS_BYTES = 1 << 18;  // of all rows that a worker has in hand
constexpr std::int64_t MOST_ROWS = 32;

// Sums of a few rows. Positive and negative entries of a place are summed apart, at 2 * place and 2 * place + 1: the
// inner loop needs no signs.
template <class Real>
class Worker {
public:
    Worker(const InstructionSet& set, const Matrix& x, const HashedMap& map, std::int64_t rows_at_a_time, Real* out)
        : hash_columns_(set.hash_columns), x_(x), map_(map), rows_at_a_time_(rows_at_a_time), out_(out),
          n_components_(map.n_blocks * map.block_size),
          batch_(static_cast<int>(std::clamp<std::int64_t>(PLACES / map.n_blocks, 1, 256))),
          scale_(1 / std::sqrt(static_cast<double>(map.n_blocks))),
          sums_(static_cast<std::size_t>(2 * n_components_ * rows_at_a_time)),
          places_(static_cast<std::size_t>(batch_ * map.n_blocks)), columns_(batch_), values_(batch_) {}

    void operator()(std::int64_t item, const std::atomic<bool>& stop) {
        const std::int64_t first = item * rows_at_a_time_, last = std::min(first + rows_at_a_time_, x_.n_rows);
        if (x_.sparse) {
            for (std::int64_t row = first; row < last && !stop; ++row) add_sparse(row);
        } else {
            with_number(x_.type,
                        [&](auto zero) { add_dense(static_cast<const decltype(zero)*>(x_.data), first, last, stop); });
        }
        for (std::int64_t row = first; row < last; ++row) write(row);
    }

private:
    HashColumns* hash_columns_;
    const Matrix& x_;
    const HashedMap& map_;
    const std::int64_t rows_at_a_time_;
    Real* out_;
    const std::int64_t n_components_;
    const int batch_;
    const double scale_;
    std::vector<double> sums_;  // float sums of many entries would lose digits of the small difference of both sides
    std::vector<std::uint32_t> places_;
    std::vector<std::uint64_t> columns_;
    std::vector<double> values_;

    double* sums_of(std::int64_t row) { return sums_.data() + row % rows_at_a_time_ * 2 * n_components_; }

    void add(double value, const std::uint32_t* places, double* sums) const {
        const std::int64_t n_blocks = map_.n_blocks;
        _Pragma("GCC unroll 8") for (std::int64_t i = 0; i < n_blocks; ++i) sums[places[i]] += value;
    }

    void add_sparse(std::int64_t row) {
        double* sums = sums_of(row);
        int n = 0;
        auto flush = [&] {
            hash_columns_(map_, columns_.data(), n, places_.data());
            for (int j = 0; j < n; ++j) add(values_[j], places_.data() + j * map_.n_blocks, sums);
            n = 0;
        };
        for_each_entry(x_, row, [&](std::int64_t column, auto value) {
            columns_[n] = static_cast<std::uint64_t>(column);
            values_[n] = static_cast<double>(value);
            n += value != 0;
            if (n == batch_) flush();
        });
        flush();
    }

    // A batch of columns is hashed once for all rows in hand.
    template <class Value>
    void add_dense(const Value* data, std::int64_t first, std::int64_t last, const std::atomic<bool>& stop) {
        for (std::int64_t start = 0; start < x_.n_columns && !stop; start += batch_) {
            const int n = static_cast<int>(std::min<std::int64_t>(batch_, x_.n_columns - start));
            for (int j = 0; j < n; ++j) columns_[j] = static_cast<std::uint64_t>(start + j);
            hash_columns_(map_, columns_.data(), n, places_.data());
            for (std::int64_t row = first; row < last; ++row) {
                double* sums = sums_of(row);
                const Value* values = data + row * x_.row_stride + start * x_.column_stride;
                for (int j = 0; j < n; ++j) {
                    const Value value = values[j * x_.column_stride];
                    if (value != 0) add(static_cast<double>(value), places_.data() + j * map_.n_blocks, sums);
                }
            }
        }
    }

    void write(std::int64_t row) {
        double* sums = sums_of(row);
        Real* out = out_ + row * n_components_;
        for (std::int64_t k = 0; k < n_components_; ++k)
            out[k] = static_cast<Real>((sums[2 * k] - sums[2 * k + 1]) * scale_);
        std::fill(sums, sums + 2 * n_components_, 0.0);
    }
};

}  // namespace

template <class Real>
bool hashed_rows(const InstructionSet& set, const Matrix& x, const HashedMap& map, int n_threads,
                 const Interrupted& interrupted, Real* out) {
    const std::int64_t bytes = 2 * map.n_blocks * map.block_size * static_cast<std::int64_t>(sizeof(double));
    const std::int64_t rows_at_a_time = std::clamp<std::int64_t>(SUMS_BYTES / bytes, 1, MOST_ROWS);
    const std::int64_t n_items = (x.n_rows + rows_at_a_time - 1) / rows_at_a_time;
    return run_parallel(n_items, n_threads, interrupted,
                        [&] { return Worker<Real>(set, x, map, rows_at_a_time, out); });
}

template bool hashed_rows(const InstructionSet&, const Matrix&, const HashedMap&, int, const Interrupted&, float*);
template bool hashed_rows(const InstructionSet&, const Matrix&, const HashedMap&, int, const Interrupted&, double*);

}  // namespace vicinal
