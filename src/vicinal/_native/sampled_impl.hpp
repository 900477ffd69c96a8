// One step of negative sampling. Included by kernels_impl.hpp inside a namespace of each instruction set; no include
// guard.

namespace {

constexpr int SLOTS = 8;                              // places of an input's products with the outputs of a group
constexpr int GROUP = 6;                              // outputs that are in registers at a time
constexpr int PAIR = 2;                               // inputs whose products with them are, too
constexpr int VECTORS = VICINAL_BYTES == 64 ? 2 : 1;  // of a row that change at a time

// 1 / (1 + e^-x): 2^k e^r with |r| <= ln(2) / 2, whose series ends below the last digit.
inline typename Vec<float>::V logistic(typename Vec<float>::V x) {
    using V = typename Vec<float>::V;
    using I = typename Vec<float>::I;
    constexpr float SERIES[] = {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f};
    constexpr float ROUND = 0x1.8p23f;  // its last bits are the whole number that is added to it
    const V exponent = smaller(larger(-x, splat<V>(-80.0f)), splat<V>(80.0f));
    V rounded = exponent * 1.44269504f + ROUND;
    const I power = (I)rounded << 23;
    rounded -= ROUND;
    const V rest = (exponent - rounded * 0x1.62e4p-1f) - rounded * 0x1.7f7d1cp-20f;
    return 1.0f / (1.0f + (V)((I)polynomial(SERIES, rest) + power));
}

#ifdef VICINAL_SHUFFLE
// Two vectors to one: each lane adds to a lane of its own vector the one that lies S beside it.
template <int S, class V, int... L>
inline V folded(V a, V b, Lanes<L...>) {
    constexpr int N = sizeof...(L);
    return __builtin_shufflevector(a, b, (L & S ? N + L - S : L)...) +
           __builtin_shufflevector(a, b, (L & S ? N + L : L + S)...);
}
// Lane i is the sum of vector i.
template <int S, int N, class V>
inline __attribute__((always_inline)) V sums_of(const V* v) {
    if constexpr (S == 0) {
        return v[0];
    } else {
        return folded<S>(sums_of<S / 2, N>(v), sums_of<S / 2, N>(v + S), typename MakeLanes<N>::Type{});
    }
}
#endif

// products[i * SLOTS + k] = x_i . y_k for R inputs and K outputs; places of no output are left as zero.
template <int R, int K>
inline __attribute__((always_inline)) void products_of(const float* const* x, const float* const* y, int width,
                                                       float* products) {
    using V = typename Vec<float>::V;
    constexpr int N = W<float>;
    V sums[PAIR * SLOTS] = {};
    for (int d = 0; d < width; d += N) {
        V inputs[R];
        UNROLL for (int i = 0; i < R; ++i) inputs[i] = load<V>(x[i] + d);
        UNROLL for (int k = 0; k < K; ++k) {
            const V output = load<V>(y[k] + d);
            UNROLL for (int i = 0; i < R; ++i) sums[i * SLOTS + k] += inputs[i] * output;
        }
    }
#ifdef VICINAL_SHUFFLE
    UNROLL for (int i = 0; i < R * SLOTS; i += N) store(products + i, sums_of<N / 2, N>(sums + i));
#else
    for (int i = 0; i < R * SLOTS; ++i) {
        products[i] = 0;
        for (int lane = 0; lane < N; ++lane) products[i] += sums[i][lane];
    }
#endif
}

// What each product tells its two rows to move by: slopes has SLOTS numbers per input.
template <int K>
void slopes_of(const SampledStep& step, int first, float* slopes) {
    using V = typename Vec<float>::V;
    constexpr int N = W<float>;
    float* const* y = step.outputs + first;
    int i = 0;
    for (; i + PAIR <= step.n_inputs; i += PAIR) {
        products_of<PAIR, K>(step.inputs + i, y, step.width, slopes + i * SLOTS);
    }
    for (; i < step.n_inputs; ++i) {
        if constexpr (W<float> <= SLOTS) {
            products_of<1, K>(step.inputs + i, y, step.width, slopes + i * SLOTS);
        } else {
            const float* twice[PAIR] = {step.inputs[i], step.inputs[i]};
            products_of<PAIR, K>(twice, y, step.width, slopes + i * SLOTS);
        }
    }
    float labels[PAIR * SLOTS] = {}, rates[PAIR * SLOTS] = {}, counts[PAIR * SLOTS];
    for (int k = 0; k < K; ++k) rates[k] = rates[SLOTS + k] = step.rate * step.output_counts[first + k];
    if (first == 0) labels[0] = labels[SLOTS] = 1;
    for (i = 0; i < step.n_inputs; i += PAIR) {
        for (int j = 0; j < SLOTS; ++j) counts[j] = step.input_counts[i];
        if (i + 1 < step.n_inputs) {
            for (int j = 0; j < SLOTS; ++j) counts[SLOTS + j] = step.input_counts[i + 1];
        }
        UNROLL for (int j = 0; j < PAIR * SLOTS; j += N) {
            float* at = slopes + i * SLOTS + j;
            const V error = load<V>(labels + j) - logistic(load<V>(at));
            store(at, error * load<V>(rates + j) * load<V>(counts + j));
        }
    }
}

// Moves inputs and the outputs of a group; `before` are the inputs as they were before the step.
template <int K>
void move_rows(const SampledStep& step, int first, const float* slopes, const float* const* before) {
    using V = typename Vec<float>::V;
    constexpr int N = W<float>;
    float* const* y = step.outputs + first;
    for (int d = 0; d < step.width; d += VECTORS * N) {
        V outputs[K][VECTORS], moves[K][VECTORS] = {};
        UNROLL for (int k = 0; k < K; ++k) {
            UNROLL for (int v = 0; v < VECTORS; ++v) outputs[k][v] = load<V>(y[k] + d + v * N);
        }
        for (int i = 0; i < step.n_inputs; ++i) {
            V old[VECTORS], input[VECTORS];
            UNROLL for (int v = 0; v < VECTORS; ++v) {
                old[v] = load<V>(before[i] + d + v * N);
                input[v] = load<V>(step.inputs[i] + d + v * N);
            }
            UNROLL for (int k = 0; k < K; ++k) {
                const V slope = splat<V>(slopes[i * SLOTS + k]);
                UNROLL for (int v = 0; v < VECTORS; ++v) {
                    input[v] += slope * outputs[k][v];
                    moves[k][v] += slope * old[v];
                }
            }
            UNROLL for (int v = 0; v < VECTORS; ++v) store(step.inputs[i] + d + v * N, input[v]);
        }
        UNROLL for (int k = 0; k < K; ++k) {
            UNROLL for (int v = 0; v < VECTORS; ++v) store(y[k] + d + v * N, outputs[k][v] + moves[k][v]);
        }
    }
}

template <int K>
struct Group {
    static void slopes(const SampledStep& step, int first, int count, float* out) {
        if constexpr (K > 1) {
            if (count < K) return Group<K - 1>::slopes(step, first, count, out);
        }
        slopes_of<K>(step, first, out);
    }
    static void move(const SampledStep& step, int first, int count, const float* slopes, const float* const* before) {
        if constexpr (K > 1) {
            if (count < K) return Group<K - 1>::move(step, first, count, slopes, before);
        }
        move_rows<K>(step, first, slopes, before);
    }
};

}  // namespace

void sampled_step(const SampledStep& step) {
    constexpr int SIZE = (MOST_INPUTS + 1) * SLOTS;
    const float* before[MOST_INPUTS];
    for (int i = 0; i < step.n_inputs; ++i) before[i] = step.inputs[i];
    if (step.n_outputs <= GROUP) {
        alignas(64) float slopes[SIZE];
        Group<GROUP>::slopes(step, 0, step.n_outputs, slopes);
        return Group<GROUP>::move(step, 0, step.n_outputs, slopes, before);
    }
    float *copies = step.room, *slopes = step.room + static_cast<std::ptrdiff_t>(step.n_inputs) * step.width;
    for (int i = 0; i < step.n_inputs; ++i, copies += step.width) {
        __builtin_memcpy(copies, step.inputs[i], static_cast<std::size_t>(step.width) * sizeof(float));
        before[i] = copies;
    }
    for (int first = 0; first < step.n_outputs; first += GROUP) {
        const int count = step.n_outputs - first < GROUP ? step.n_outputs - first : GROUP;
        Group<GROUP>::slopes(step, first, count, slopes + first / GROUP * SIZE);
    }
    for (int first = 0; first < step.n_outputs; first += GROUP) {
        const int count = step.n_outputs - first < GROUP ? step.n_outputs - first : GROUP;
        Group<GROUP>::move(step, first, count, slopes + first / GROUP * SIZE, before);
    }
}
