// The bodies of kernels.hpp, written once with the compiler's vector types and compiled once per instruction set.
// The including file defines VICINAL_ISA (a namespace), VICINAL_BYTES (vector width) and VICINAL_TILE_ROWS (anchors
// held in registers at a time, a divisor of TILE). No templates of the standard library here: the linker would merge
// their copies over instruction sets.
#include <cstddef>
#include <cstdint>

#include "kernels.hpp"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vicinal {
namespace VICINAL_ISA {
namespace {

#include "vectors.hpp"

constexpr int RA = VICINAL_TILE_ROWS;  // anchors and
constexpr int RV = 2;                  // vectors of rows whose sums are in registers at a time

template <class Real>
bool transpose(const Real* rows, std::ptrdiff_t stride, Real* out) {
    using V = typename Vec<Real>::V;
    using I = typename Vec<Real>::I;
    constexpr int N = W<Real>;
    I strange = {};
    for (int row = 0; row < ROWS; row += N) {
        for (int column = 0; column < STRIP; column += N) {
            V part[N];
            UNROLL for (int i = 0; i < N; ++i) {
                part[i] = load<V>(rows + (row + i) * stride + column);
                strange |= part[i] - part[i] != V{};
            }
#ifdef VICINAL_SHUFFLE
            exchange_all<1, N>(part);
            UNROLL for (int i = 0; i < N; ++i) store(out + (column + i) * ROWS + row, part[i]);
#else
            for (int i = 0; i < N; ++i) {
                for (int j = 0; j < N; ++j) out[(column + j) * ROWS + row + i] = part[i][j];
            }
#endif
        }
    }
    return bits<Real>(strange) == 0;
}

struct Dot {
    template <class V>
    static void step(V& acc, V x, V a) {
        acc -= x * a;
    }
};
struct Square {
    template <class V>
    static void step(V& acc, V x, V a) {
        V d = x - a;
        acc += d * d;
    }
};
struct Absolute {
    template <class V>
    static void step(V& acc, V x, V a) {
        V d = x - a;
        acc += larger(d, -d);
    }
};

// N anchors against RV vectors of rows, whose feature f is at at(f): sums in registers, from start(i, j) to
// finish(i, j, sum).
template <class Real, class Op, int N, class At, class Start, class Finish>
inline __attribute__((always_inline)) void micro_tile(At at, int m, const Real* tile, Start start, Finish finish) {
    using V = typename Vec<Real>::V;
    V acc[N][RV];
    UNROLL for (int i = 0; i < N; ++i) { UNROLL for (int j = 0; j < RV; ++j) acc[i][j] = start(i, j); }
    for (int f = 0; f < m; ++f) {
        const Real* xf = at(f);
        V xv[RV];
        UNROLL for (int j = 0; j < RV; ++j) xv[j] = load<V>(xf + j * W<Real>);
        UNROLL for (int i = 0; i < N; ++i) {
            V a = splat<V>(tile[f * TILE + i]);
            UNROLL for (int j = 0; j < RV; ++j) Op::step(acc[i][j], xv[j], a);
        }
    }
    UNROLL for (int i = 0; i < N; ++i) { UNROLL for (int j = 0; j < RV; ++j) finish(i, j, acc[i][j]); }
}

#include "panels_impl.hpp"

template <class Real>
void squared_norms(const Real* x, int m, Real* norms) {
    using V = typename Vec<Real>::V;
    constexpr int N = ROWS / W<Real>, CHAINS = N < 8 ? 8 / N : 1;  // sums that do not wait for each other
    V acc[CHAINS][N] = {};
    auto add = [&](int f, int chain) {
        UNROLL for (int j = 0; j < N; ++j) {
            V v = load<V>(x + f * ROWS + j * W<Real>);
            acc[chain][j] += v * v;
        }
    };
    int f = 0;
    for (; f + CHAINS <= m; f += CHAINS) {
        UNROLL for (int chain = 0; chain < CHAINS; ++chain) add(f + chain, chain);
    }
    for (; f < m; ++f) add(f, 0);
    for (int j = 0; j < N; ++j) {
        for (int chain = 1; chain < CHAINS; ++chain) acc[0][j] += acc[chain][j];
        store(norms + j * W<Real>, acc[0][j]);
    }
}

template <class Real>
void partial(const Real* x, int m, const Real* tiles, int n_tiles, Metric metric, Real* scores) {
    for (int t = 0; t < n_tiles; ++t) {
        Real sum[TILE] = {}, present[TILE] = {}, xx[TILE] = {}, aa[TILE] = {};
        for (int f = 0; f < m; ++f) {
            Real v = x[f * ROWS];
            if (v != v) continue;
            const Real* a = tiles + (static_cast<std::ptrdiff_t>(t) * m + f) * TILE;
            for (int i = 0; i < TILE; ++i) {
                bool both = a[i] == a[i];
                Real w = both ? a[i] : v, d = v - w;
                present[i] += both ? Real(1) : Real(0);
                if (metric == Metric::euclidean) {
                    sum[i] += d * d;
                } else if (metric == Metric::manhattan) {
                    sum[i] += d < 0 ? -d : d;
                } else if (both) {
                    sum[i] += v * w;
                    xx[i] += v * v;
                    aa[i] += w * w;
                }
            }
        }
        for (int i = 0; i < TILE; ++i) {
            Real out = INF<Real>;
            if (present[i] > 0) {
                if (metric == Metric::cosine) {
                    Real lengths = static_cast<Real>(__builtin_sqrt(xx[i]) * __builtin_sqrt(aa[i]));
                    out = lengths > 0 ? 1 - sum[i] / lengths : Real(1);
                } else {
                    out = sum[i] * (static_cast<Real>(m) / present[i]);
                    if (metric == Metric::euclidean) out = static_cast<Real>(__builtin_sqrt(out));
                }
            }
            scores[(t * TILE + i) * ROWS] = out;
        }
    }
}

template <class Real>
void select(const Real* scores, int r, int k, Real* best, std::int32_t* index) {
    using V = typename Vec<Real>::V;
    using I = typename Vec<Real>::I;
    using Lane = typename Vec<Real>::Lane;
    constexpr int N = ROWS / W<Real>;
    if (k == 1) {
        V low[N];
        I at[N];
        UNROLL for (int j = 0; j < N; ++j) {
            low[j] = splat<V>(INF<Real>);
            at[j] = I{} - 1;
        }
        for (int a = 0; a < r; ++a) {
            UNROLL for (int j = 0; j < N; ++j) {
                V v = load<V>(scores + a * ROWS + j * W<Real>);
                I less = v < low[j];
                low[j] = less ? v : low[j];
                at[j] = less ? static_cast<Lane>(a) - I{} : at[j];
            }
        }
        for (int j = 0; j < N; ++j) {
            store(best + j * W<Real>, low[j]);
            for (int i = 0; i < W<Real>; ++i) index[j * W<Real> + i] = static_cast<std::int32_t>(at[j][i]);
        }
        return;
    }
    for (int i = 0; i < k * ROWS; ++i) {
        best[i] = INF<Real>;
        index[i] = -1;
    }
    for (int a = 0; a < r; ++a) {
        for (int row = 0; row < ROWS; row += W<Real>) {
            V v = load<V>(scores + a * ROWS + row);
            std::uint32_t hits = bits<Real>(v < load<V>(best + (k - 1) * ROWS + row));
            for (; hits; hits &= hits - 1) {
                int at = row + __builtin_ctz(hits);
                Real score = scores[a * ROWS + at];
                int level = k - 1;
                for (; level > 0 && best[(level - 1) * ROWS + at] > score; --level) {
                    best[level * ROWS + at] = best[(level - 1) * ROWS + at];
                    index[level * ROWS + at] = index[(level - 1) * ROWS + at];
                }
                best[level * ROWS + at] = score;
                index[level * ROWS + at] = a;
            }
        }
    }
}

template <class Real>
std::uint32_t ambiguous(const Real* scores, int r, const Real* best, const Real* limit, const Real* size,
                        const Real* error_a, const Real* error_b) {
    using V = typename Vec<Real>::V;
    using I = typename Vec<Real>::I;
    constexpr int N = ROWS / W<Real>;
    I hit[N] = {};
    V low[N], high[N], length[N];
    UNROLL for (int j = 0; j < N; ++j) {
        low[j] = load<V>(best + j * W<Real>);
        high[j] = load<V>(limit + j * W<Real>);
        length[j] = load<V>(size + j * W<Real>);
    }
    for (int a = 0; a < r; ++a) {
        V ea = splat<V>(error_a[a]), eb = splat<V>(error_b[a]);
        UNROLL for (int j = 0; j < N; ++j) {
            V v = load<V>(scores + a * ROWS + j * W<Real>);
            hit[j] |= (v > low[j]) & (v <= high[j] + (ea + length[j] * eb));
        }
    }
    std::uint32_t out = 0;
    for (int j = 0; j < N; ++j) out |= bits<Real>(hit[j]) << (j * W<Real>);
    return out;
}

template <class Real, Form form>
void sum_distances_as(const Real* scores, int r, const Real* offset, double* sums) {
    using V = typename Vec<Real>::V;
    constexpr int N = ROWS / W<Real>;
    constexpr int FLUSH = 64;  // float32 sums stay short
    V off[N];
    for (int j = 0; j < N; ++j) off[j] = load<V>(offset + j * W<Real>);
    for (int i = 0; i < ROWS; ++i) sums[i] = 0;
    for (int start = 0; start < r; start += FLUSH) {
        int stop = start + FLUSH < r ? start + FLUSH : r;
        V acc[N] = {};
        for (int a = start; a < stop; ++a) {
            UNROLL for (int j = 0; j < N; ++j) {
                V v = load<V>(scores + a * ROWS + j * W<Real>);
                if constexpr (form == Form::expanded) v = root<Real>(larger(2 * (v + off[j]), V{}));
                if constexpr (form == Form::squared) v = root<Real>(v);
                if constexpr (form == Form::projected) v = larger(1 + v * off[j], V{});
                acc[j] += v;
            }
        }
        for (int i = 0; i < ROWS; ++i) sums[i] += static_cast<double>(acc[i / W<Real>][i % W<Real>]);
    }
}

template <class Real>
void sum_distances(const Real* scores, int r, Form form, const Real* offset, double* sums) {
    switch (form) {
        case Form::expanded:
            return sum_distances_as<Real, Form::expanded>(scores, r, offset, sums);
        case Form::squared:
            return sum_distances_as<Real, Form::squared>(scores, r, offset, sums);
        case Form::plain:
            return sum_distances_as<Real, Form::plain>(scores, r, offset, sums);
        case Form::projected:
            return sum_distances_as<Real, Form::projected>(scores, r, offset, sums);
    }
}

#include "candidates_impl.hpp"
#include "few_features_impl.hpp"
#include "fourier_impl.hpp"
#include "index_impl.hpp"
#include "subspaces_impl.hpp"

template <class Real>
constexpr Kernels<Real> table = {
    transpose<Real>,
    nearest_by_dots<Real>,
    nearest_by_squares<Real>,
    nearest_tile<Real>,
    nearest_in_tile<Real>,
    dots<Real>,
    squares<Real>,
    absolutes<Real>,
    squared_norms<Real>,
    partial<Real>,
    select<Real>,
    ambiguous<Real>,
    distances_along<Real>,
    distances_of_parts<Real>,
    sum_distances<Real>,
    search_line<Real>,
    search_grid<Real>,
    candidates_by_dots<Real>,
    candidates_by_absolutes<Real>,
    differences_below<Real>,
    hadamard<Real>,
    cos_sin<Real>,
};

}  // namespace

#include "hashing_impl.hpp"
#include "linear_impl.hpp"
#include "neighbors_impl.hpp"
#include "pair_network_impl.hpp"
#include "sampled_impl.hpp"

extern const Kernels<float> f32;
extern const Kernels<double> f64;
const Kernels<float> f32 = table<float>;
const Kernels<double> f64 = table<double>;

}  // namespace VICINAL_ISA
}  // namespace vicinal
