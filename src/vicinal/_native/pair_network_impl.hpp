// A network of two rows, for one row with many others. Included by kernels_impl.hpp inside a namespace of each
// instruction set; no include guard.

namespace {

constexpr int AT_ONCE = VICINAL_BYTES == 64 ? 10 : 5;  // units of a layer, and
constexpr int ABREAST = 2;                             // vectors of pairs, whose sums are in registers at a time

// 1 / d for d of at least 1: the processor's estimate and Newton's steps replace the slow division unit.
inline typename Vec<float>::V reciprocal(typename Vec<float>::V d) {
    using V = typename Vec<float>::V;
#if defined(__AVX512F__) && VICINAL_BYTES == 64
    d = smaller(d, splat<V>(1e37f));
    const V r = (V)_mm512_rcp14_ps((__m512)d);
    return r * (2.0f - d * r);
#elif defined(__AVX2__) && VICINAL_BYTES == 32
    d = smaller(d, splat<V>(1e37f));
    const V r = (V)_mm256_rcp_ps((__m256)d);
    return r * (2.0f - d * r);
#else
    return splat<V>(1.0f) / d;
#endif
}

// 1 / (1 + 2^x): 2^k 2^f with |f| <= 1/2, whose series ends below the last digit.
inline typename Vec<float>::V falling(typename Vec<float>::V x) {
    using V = typename Vec<float>::V;
    using I = typename Vec<float>::I;
    constexpr float SERIES[] = {
        1.54035304e-4f, 1.33335581e-3f, 9.61812911e-3f, 5.55041087e-2f, 2.40226507e-1f, 6.93147181e-1f, 1.0f};
    constexpr float ROUND = 0x1.8p23f;  // its last bits are the whole number that is added to it
    x = smaller(larger(x, splat<V>(-120.0f)), splat<V>(120.0f));
    V rounded = x + ROUND;
    const I power = (I)rounded << 23;
    rounded -= ROUND;
    return reciprocal(1.0f + (V)((I)polynomial(SERIES, x - rounded) + power));
}

// The first layer's units, of one row with a tile of others: unit u of the tile is others[u * PAIRS ..]. Sums of
// exponents are those of e^2.
template <bool BY_SUMS>
inline void first_units(const float* row, const float* others, int n_units, float* units) {
    using V = typename Vec<float>::V;
    for (int u = 0; u < n_units; ++u) {
        const V own = splat<V>(row[u]);
        UNROLL for (int i = 0; i < PAIRS; i += W<float>) {
            const V other = load<V>(others + u * PAIRS + i);
            store(units + u * PAIRS + i,
                  BY_SUMS ? falling((own + other) * 2.88539008f) : reciprocal(1.0f + own * other));
        }
    }
}

// sums = biases + weights * units, for AT_ONCE units of the next layer and ABREAST vectors of pairs at a time.
inline void next_sums(const PairLayer& layer, const float* units, float* sums) {
    using V = typename Vec<float>::V;
    constexpr int STEP = ABREAST * W<float>;
    for (int first = 0; first < layer.n_out; first += AT_ONCE) {
        const int width = layer.n_out - first < AT_ONCE ? layer.n_out - first : AT_ONCE;
        for (int i = 0; i < PAIRS; i += STEP) {
            V total[AT_ONCE][ABREAST];
            UNROLL for (int o = 0; o < AT_ONCE; ++o) {
                UNROLL for (int v = 0; v < ABREAST; ++v) total[o][v] = splat<V>(layer.biases[first + o]);
            }
            const float* weights = layer.weights + first;
            for (int u = 0; u < layer.n_in; ++u, weights += layer.stride) {
                V unit[ABREAST];
                UNROLL for (int v = 0; v < ABREAST; ++v) unit[v] = load<V>(units + u * PAIRS + i + v * W<float>);
                UNROLL for (int o = 0; o < AT_ONCE; ++o) {
                    UNROLL for (int v = 0; v < ABREAST; ++v) total[o][v] += weights[o] * unit[v];
                }
            }
            for (int o = 0; o < width; ++o) {
                UNROLL for (int v = 0; v < ABREAST; ++v) {
                    store(sums + (first + o) * PAIRS + i + v * W<float>, total[o][v]);
                }
            }
        }
    }
}

// The last layer, of one unit.
inline void last_sum(const PairLayer& layer, const float* units, float* sums) {
    using V = typename Vec<float>::V;
    V total[PAIRS / W<float>];
    UNROLL for (V& t : total) t = splat<V>(layer.biases[0]);
    for (int u = 0; u < layer.n_in; ++u) {
        UNROLL for (int v = 0; v < PAIRS / W<float>; ++v) {
            total[v] += layer.weights[u * layer.stride] * load<V>(units + u * PAIRS + v * W<float>);
        }
    }
    UNROLL for (int v = 0; v < PAIRS / W<float>; ++v) store(sums + v * W<float>, total[v]);
}

}  // namespace

void pair_network(const PairNetwork& network, const float* row, const float* others, bool by_sums, float* room,
                  float* out) {
    using V = typename Vec<float>::V;
    float *units = room, *sums = room + static_cast<std::ptrdiff_t>(network.widest) * PAIRS;
    if (by_sums) {
        first_units<true>(row, others, network.layers[0].n_in, units);
    } else {
        first_units<false>(row, others, network.layers[0].n_in, units);
    }
    for (int l = 0; l + 1 < network.n_layers; ++l) {
        next_sums(network.layers[l], units, sums);
        for (int i = 0; i < network.layers[l].n_out * PAIRS; i += W<float>) {
            store(units + i, falling(load<V>(sums + i)));
        }
    }
    last_sum(network.layers[network.n_layers - 1], units, sums);
    for (int i = 0; i < PAIRS; i += W<float>) {
        store(out + i, load<V>(out + i) + (1.0f - 2.0f * falling(load<V>(sums + i))));
    }
}
