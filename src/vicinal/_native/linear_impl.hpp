// Products of a row with the weights of several outputs, and steps of these weights along a row. Included by
// kernels_impl.hpp inside a namespace of each instruction set; no include guard.

namespace {

template <class Real, int LANES>
struct LaneVector {
    typedef Real V __attribute__((vector_size(LANES * sizeof(Real))));
};
template <class Real>
struct LaneVector<Real, 1> {
    typedef Real V;
};

template <class Value>
struct DenseEntries {
    const Value* values;
    std::int64_t count;
    std::int64_t column(std::int64_t e) const { return e; }
    Value value(std::int64_t e) const { return values[e]; }
};

template <class Value>
struct CsrEntries {
    const Value* values;
    const std::int32_t* columns;
    std::int64_t count;
    std::int64_t column(std::int64_t e) const { return columns[e]; }
    Value value(std::int64_t e) const { return values[e]; }
};

// Calls f with entries of consecutive groups, whose codes are turned into columns, and their bytes into values, some at
// a time: vectors do that, and then there is little left to do for each entry.
template <class Code, class F>
inline void coded_entries(const LinearRows& x, const Code* codes, const std::uint8_t* levels, std::int64_t first,
                          std::int64_t count, F f) {
    constexpr std::int64_t MOST = 256;
    std::int32_t columns[MOST];
    float values[MOST];
    for (std::int64_t start = 0; start < count; start += MOST) {
        const std::int64_t n = count - start < MOST ? count - start : MOST;
        const std::int32_t* offsets = x.offsets + first + start;
        const float* scales = x.scales + first + start;
        for (std::int64_t e = 0; e < n; ++e) columns[e] = offsets[e] + static_cast<std::int32_t>(codes[start + e]);
        if (levels) {
            for (std::int64_t e = 0; e < n; ++e) values[e] = scales[e] * static_cast<float>(levels[start + e]);
        }
        f(CsrEntries<float>{levels ? values : scales, columns, n});
    }
}

// All groups of a row, one run after the other.
template <class F>
inline void coded_row(const LinearRows& x, std::int64_t row, F f) {
    const std::int64_t b = x.runs[0], p = x.runs[1], q = x.runs[2];
    const auto* levels = static_cast<const std::uint8_t*>(x.values);
    if (levels) levels += row * (b + p + q);
    coded_entries(x, x.bytes + row * b, levels, 0, b, f);
    coded_entries(x, x.pairs + row * p, levels ? levels + b : nullptr, b, p, f);
    coded_entries(x, x.quads + row * q, levels ? levels + b + p : nullptr, b + p, q, f);
}

template <class Value, class F>
inline void plain_entries(const LinearRows& x, std::int64_t row, F f) {
    const auto* values = static_cast<const Value*>(x.values);
    if (x.kind == RowKind::dense) {
        f(DenseEntries<Value>{values + row * x.n_columns, x.n_columns});
    } else {
        const std::int64_t start = x.starts[row];
        f(CsrEntries<Value>{values + start, x.columns + start, x.starts[row + 1] - start});
    }
}

// Calls f with the row's entries, all at once or part by part.
template <class F>
inline void with_entries(const LinearRows& x, std::int64_t row, F f) {
    if (x.kind == RowKind::coded) {
        coded_row(x, row, f);
    } else {
        x.doubles ? plain_entries<double>(x, row, f) : plain_entries<float>(x, row, f);
    }
}

// The weights of one column.
template <class V, bool SHRINKING, class Weight>
inline V weights_at(const Weight* place, Weight shrink) {
    V w;
    __builtin_memcpy(&w, place, sizeof w);
    if constexpr (SHRINKING) {
        const V above = w - shrink, below = w + shrink;
        w = (above > 0 ? above : V{}) + (below < 0 ? below : V{});
    }
    return w;
}

template <class Weight, int LANES, bool SHRINKING>
inline void row_scores(const LinearRows& x, std::int64_t row, const Weight* weights, Weight shrink, Weight* out) {
    using V = typename LaneVector<Weight, LANES>::V;
    constexpr int ABREAST = 4;  // sums that do not wait for each other
    V sums[ABREAST] = {};
    with_entries(x, row, [&](const auto& entries) {
        const auto weights_of = [&](std::int64_t e) {
            return weights_at<V, SHRINKING>(weights + entries.column(e) * LANES, shrink);
        };
        std::int64_t e = 0;
        for (; e + ABREAST <= entries.count; e += ABREAST) {
            UNROLL for (int i = 0; i < ABREAST; ++i) {
                sums[i] += weights_of(e + i) * static_cast<Weight>(entries.value(e + i));
            }
        }
        for (; e < entries.count; ++e) sums[0] += weights_of(e) * static_cast<Weight>(entries.value(e));
    });
    const V sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    __builtin_memcpy(out, &sum, sizeof sum);
}

template <class Weight, int LANES>
inline void row_add(const LinearRows& x, std::int64_t row, const Weight* steps, Weight* weights) {
    using V = typename LaneVector<Weight, LANES>::V;
    V step;
    __builtin_memcpy(&step, steps, sizeof step);
    with_entries(x, row, [&](const auto& entries) {
        for (std::int64_t e = 0; e < entries.count; ++e) {
            Weight* place = weights + entries.column(e) * LANES;
            V w;
            __builtin_memcpy(&w, place, sizeof w);
            w += step * static_cast<Weight>(entries.value(e));
            __builtin_memcpy(place, &w, sizeof w);
        }
    });
}

template <class Weight, bool SHRINKING>
void row_scores(const LinearRows& x, std::int64_t row, const Weight* weights, Weight shrink, int lanes, Weight* out) {
    switch (lanes) {
        case 1:
            return row_scores<Weight, 1, SHRINKING>(x, row, weights, shrink, out);
        case 2:
            return row_scores<Weight, 2, SHRINKING>(x, row, weights, shrink, out);
        case 4:
            return row_scores<Weight, 4, SHRINKING>(x, row, weights, shrink, out);
        default:
            return row_scores<Weight, 8, SHRINKING>(x, row, weights, shrink, out);
    }
}

template <class Weight>
void scores_of_row(const LinearRows& x, std::int64_t row, const Weight* weights, Weight shrink, int lanes,
                   Weight* out) {
    shrink > 0 ? row_scores<Weight, true>(x, row, weights, shrink, lanes, out)
               : row_scores<Weight, false>(x, row, weights, shrink, lanes, out);
}

template <class Weight>
void add_row(const LinearRows& x, std::int64_t row, const Weight* steps, int lanes, Weight* weights) {
    switch (lanes) {
        case 1:
            return row_add<Weight, 1>(x, row, steps, weights);
        case 2:
            return row_add<Weight, 2>(x, row, steps, weights);
        case 4:
            return row_add<Weight, 4>(x, row, steps, weights);
        default:
            return row_add<Weight, 8>(x, row, steps, weights);
    }
}

template <class Value>
inline double sum_of_squares(const Value* values, std::int64_t count) {
    constexpr int N = W<Value>;
    typename Vec<Value>::V sums = {};
    double total = 0;
    std::int64_t e = 0;
    for (; e + N <= count; e += N) {
        const auto part = load<typename Vec<Value>::V>(values + e);
        sums += part * part;
    }
    for (; e < count; ++e) total += static_cast<double>(values[e]) * values[e];
    for (int i = 0; i < N; ++i) total += sums[i];
    return total;
}

double squared_length(const LinearRows& x, std::int64_t row) {
    double sum = 0;
    with_entries(x, row, [&](const auto& entries) { sum += sum_of_squares(entries.values, entries.count); });
    return sum;
}

}  // namespace

extern const LinearKernels linear;
const LinearKernels linear = {
    {scores_of_row<float>, add_row<float>}, {scores_of_row<double>, add_row<double>}, squared_length};
