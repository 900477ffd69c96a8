// Reading rows: dense arrays of any number type and any strides, and CSR, without a copy of the whole.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "kernels.hpp"

namespace vicinal {

enum class Number { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 };

struct Matrix {
    std::int64_t n_rows = 0, n_columns = 0;
    Number type = Number::f64;
    const void* data = nullptr;
    std::int64_t row_stride = 0, column_stride = 0;  // dense, in elements
    bool sparse = false, wide_indices = false;       // CSR with 32- or 64-bit indices
    const void* indices = nullptr;
    const void* indptr = nullptr;
};

template <class F>
auto with_number(Number type, F f) {
    switch (type) {
        case Number::f32:
            return f(float{});
        case Number::f64:
            return f(double{});
        case Number::i8:
            return f(std::int8_t{});
        case Number::i16:
            return f(std::int16_t{});
        case Number::i32:
            return f(std::int32_t{});
        case Number::i64:
            return f(std::int64_t{});
        case Number::u8:
            return f(std::uint8_t{});
        case Number::u16:
            return f(std::uint16_t{});
        case Number::u32:
            return f(std::uint32_t{});
        case Number::u64:
            return f(std::uint64_t{});
    }
    throw std::logic_error("unknown number type");
}

// Calls f(column, value) for the entries of a row: all of them, or the stored ones of a CSR row.
template <class F>
void for_each_entry(const Matrix& x, std::int64_t row, F f) {
    with_number(x.type, [&](auto zero) {
        const auto* data = static_cast<const decltype(zero)*>(x.data);
        if (!x.sparse) {
            const auto* p = data + row * x.row_stride;
            for (std::int64_t j = 0; j < x.n_columns; ++j) f(j, p[j * x.column_stride]);
        } else {
            auto stored = [&](const auto* indices, const auto* indptr) {
                for (auto e = indptr[row]; e < indptr[row + 1]; ++e) f(static_cast<std::int64_t>(indices[e]), data[e]);
            };
            if (x.wide_indices) {
                stored(static_cast<const std::int64_t*>(x.indices), static_cast<const std::int64_t*>(x.indptr));
            } else {
                stored(static_cast<const std::int32_t*>(x.indices), static_cast<const std::int32_t*>(x.indptr));
            }
        }
    });
}

// A row's fingerprint: a sum over its non-zero entries, so that dense, CSR and every number type agree.
inline std::uint64_t entry_hash(std::int64_t column, double value) {
    if (value == 0) return 0;
    std::uint64_t h;
    if (value != value) value = std::numeric_limits<double>::quiet_NaN();
    std::memcpy(&h, &value, sizeof h);
    h ^= static_cast<std::uint64_t>(column + 1) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
    return h ^ (h >> 31);
}

inline std::uint64_t fingerprint(const Matrix& x, std::int64_t row) {
    std::uint64_t h = 0;
    for_each_entry(x, row, [&](std::int64_t j, auto v) { h += entry_hash(j, static_cast<double>(v)); });
    return h;
}

// All numbers are moved by `center` (a number per feature; none for CSR, whose zeros stay where they are) and
// multiplied by `scale`, a power of two: Euclidean distances by expanded squares lose no digits to a far origin, and
// neither overflow nor vanish.
template <class Real>
struct Placement {
    const Real* center = nullptr;
    Real scale = 1;

    bool is_identity() const { return !center && scale == 1; }

    template <class Value>
    Real operator()(Value value, std::int64_t column) const {
        Real v = static_cast<Real>(value);
        return (center ? v - center[column] : v) * scale;
    }

    static Real clamp(Real v) {
        constexpr Real most = std::numeric_limits<Real>::max();
        return v > most ? most : (v < -most ? -most : v);
    }
};

// The power of two that brings a row's largest entry near `size`; 1 if it is not far from there.
template <class Real>
Real leveling_power(Real largest, Real size) {
    constexpr int FAR = 30, MOST = sizeof(Real) == 4 ? 120 : 1000;
    if (!(largest > 0) || !(size > 0)) return 1;
    int exponent = 0, wanted = 0;
    std::frexp(largest, &exponent);
    std::frexp(size, &wanted);
    return std::abs(wanted - exponent) <= FAR ? 1 : std::ldexp(Real(1), std::clamp(wanted - exponent, -MOST, MOST));
}

// A block of at most ROWS rows, feature-major. Rows beyond the end are zero.
template <class Real>
class Block {
public:
    Real* x = nullptr;          // n_columns * ROWS, zero before the first load
    std::uint32_t missing = 0;  // rows (as bits) with a NaN
    std::uint64_t fingerprints[ROWS];

    explicit Block(const Kernels<Real>& kernels) : kernels_(kernels) {}

    void load(const Matrix& source, std::int64_t first, int count, const Placement<Real>& place,
              bool with_fingerprints) {
        missing = 0;
        if (!source.sparse) {
            with_number(source.type, [&](auto zero) {
                load_dense(source, static_cast<const decltype(zero)*>(source.data), first, count, place);
            });
        } else {
            for (int i = 0; i < count; ++i) {
                for_each_entry(source, first + i, [&](std::int64_t j, auto value) {
                    if (value - value != 0) note(value, i);
                    x[j * ROWS + i] = place.clamp(place(value, j));
                });
            }
        }
        for (int i = 0; with_fingerprints && i < count; ++i) fingerprints[i] = fingerprint(source, first + i);
    }

    // Rows whose largest entries are far from `size` are multiplied by a power of two, which no cosine notices: their
    // squares would overflow or vanish.
    void level(const Matrix& source, std::int64_t first, int count, Real size) {
        for (int i = 0; i < count; ++i) {
            Real largest = 0;
            each_entry(source, first + i, i, [&](Real& v) { largest = std::abs(v) > largest ? std::abs(v) : largest; });
            const Real power = leveling_power(largest, size);
            if (power != 1) each_entry(source, first + i, i, [&](Real& v) { v *= power; });
        }
    }

    // CSR: only what was written is cleared.
    void clear(const Matrix& source, std::int64_t first, int count) {
        if (!source.sparse) return;
        for (int i = 0; i < count; ++i) {
            for_each_entry(source, first + i, [&](std::int64_t j, auto) { x[j * ROWS + i] = 0; });
        }
    }

private:
    const Kernels<Real>& kernels_;

    template <class F>
    void each_entry(const Matrix& source, std::int64_t row, int i, F f) {
        if (source.sparse) {
            for_each_entry(source, row, [&](std::int64_t j, auto) { f(x[j * ROWS + i]); });
        } else {
            for (std::int64_t j = 0; j < source.n_columns; ++j) f(x[j * ROWS + i]);
        }
    }

    template <class Value>
    void note(Value v, int row) {
        if (v == v) throw std::domain_error("Input X contains infinity or a value too large for its dtype.");
        missing |= std::uint32_t(1) << row;
    }

    template <class Value>
    void load_dense(const Matrix& source, const Value* data, std::int64_t first, int count,
                    const Placement<Real>& place) {
        const std::int64_t row_stride = source.row_stride, stride = source.column_stride;
        const Value* rows = data + first * row_stride;
        bool finite = true;
        std::int64_t j = 0;
        if (stride == 1 && count == ROWS) {
            for (; j + STRIP <= source.n_columns; j += STRIP) {
                finite &= load_strip(rows + j, row_stride, j, place);
            }
        }
        for (; j < source.n_columns; ++j) {
            Real* out = x + j * ROWS;
            for (int i = 0; i < count; ++i) out[i] = place(rows[i * row_stride + j * stride], j);
            for (int i = count; i < ROWS; ++i) out[i] = 0;
            for (int i = 0; i < ROWS; ++i) finite &= out[i] - out[i] == 0;
        }
        if (finite) return;
        for (j = 0; j < source.n_columns; ++j) {
            for (int i = 0; i < count; ++i) {
                const Value value = rows[i * row_stride + j * stride];
                if (value - value != 0) note(value, i);
                x[j * ROWS + i] = place.clamp(x[j * ROWS + i]);
            }
        }
    }

    template <class Value>
    bool load_strip(const Value* rows, std::int64_t row_stride, std::int64_t column, const Placement<Real>& place) {
        constexpr int AHEAD = 4 * STRIP;  // rows lie too far apart for the processor to guess the next ones
        for (int i = 0; i < ROWS; ++i) __builtin_prefetch(rows + i * row_stride + AHEAD);
        Real* out = x + column * ROWS;
        if constexpr (std::is_same_v<Value, Real>) {
            if (place.is_identity()) return kernels_.transpose(rows, row_stride, out);
        }
        alignas(64) Real strip[ROWS][STRIP];
        for (int i = 0; i < ROWS; ++i) {
            for (int k = 0; k < STRIP; ++k) strip[i][k] = place(rows[i * row_stride + k], column + k);
        }
        return kernels_.transpose(strip[0], STRIP, out);
    }
};

}  // namespace vicinal
