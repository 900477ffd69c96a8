// Vectors of numbers by the compiler's own types, and the few things that it cannot say with operators.
// Included by kernels_impl.hpp inside a namespace of each instruction set; VICINAL_BYTES is the vector width.
// No include guard: every instruction set has its own copy.

#define UNROLL _Pragma("GCC unroll 16")

template <class Real>
struct Vec;
template <>
struct Vec<float> {
    typedef float V __attribute__((vector_size(VICINAL_BYTES)));
    typedef std::int32_t I __attribute__((vector_size(VICINAL_BYTES)));
    typedef std::int32_t Lane;
};
template <>
struct Vec<double> {
    typedef double V __attribute__((vector_size(VICINAL_BYTES)));
    typedef std::int64_t I __attribute__((vector_size(VICINAL_BYTES)));
    typedef std::int64_t Lane;
};

template <class Real>
constexpr int W = VICINAL_BYTES / sizeof(Real);
template <class Real>
constexpr Real INF = static_cast<Real>(__builtin_inf());

template <class V, class Real>
inline V load(const Real* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
template <class V, class Real>
inline void store(Real* p, V v) {
    __builtin_memcpy(p, &v, sizeof v);
}
template <class V, class Real>
inline V splat(Real s) {
    return s - V{};
}
template <class V>
inline V larger(V a, V b) {
    return a > b ? a : b;
}

template <class V>
inline V smaller(V a, V b) {
    return a < b ? a : b;
}

// One bit per lane of a comparison's result.
template <class Real>
inline std::uint32_t bits(typename Vec<Real>::I mask) {
#if defined(__AVX512DQ__) && VICINAL_BYTES == 64
    if constexpr (sizeof(Real) == 4) return _mm512_movepi32_mask((__m512i)mask);
    return _mm512_movepi64_mask((__m512i)mask);
#elif defined(__AVX2__) && VICINAL_BYTES == 32
    if constexpr (sizeof(Real) == 4) return _mm256_movemask_ps((__m256)mask);
    return _mm256_movemask_pd((__m256d)mask);
#elif defined(__SSE2__) && VICINAL_BYTES == 16
    if constexpr (sizeof(Real) == 4) return _mm_movemask_ps((__m128)mask);
    return _mm_movemask_pd((__m128d)mask);
#else
    std::uint32_t out = 0;
    for (int i = 0; i < W<Real>; ++i) out |= static_cast<std::uint32_t>(mask[i] != 0) << i;
    return out;
#endif
}

// Square root for sums of many: for float32 the processor's estimate and one Newton step (2^-22) replace the slow
// division unit.
template <class Real>
inline typename Vec<Real>::V root(typename Vec<Real>::V v) {
    [[maybe_unused]] typedef typename Vec<Real>::V V;
#if defined(__AVX512F__) && VICINAL_BYTES == 64
    if constexpr (sizeof(Real) == 4) {
        V r = (V)_mm512_rsqrt14_ps((__m512)larger(v, splat<V>(1e-37f)));
        return v < INF<Real> ? v * (r * (1.5f - (0.5f * v * r) * r)) : v;
    } else {
        return (V)_mm512_sqrt_pd((__m512d)v);
    }
#elif defined(__AVX2__) && VICINAL_BYTES == 32
    if constexpr (sizeof(Real) == 4) {
        V r = (V)_mm256_rsqrt_ps((__m256)larger(v, splat<V>(1e-37f)));
        return v < INF<Real> ? v * (r * (1.5f - (0.5f * v * r) * r)) : v;
    } else {
        return (V)_mm256_sqrt_pd((__m256d)v);
    }
#else
    for (int i = 0; i < W<Real>; ++i) v[i] = static_cast<Real>(__builtin_sqrt(v[i]));
    return v;
#endif
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define VICINAL_SHUFFLE
#endif
#endif

#ifdef VICINAL_SHUFFLE
template <int... I>
struct Lanes {};
template <int N, int... I>
struct MakeLanes : MakeLanes<N - 1, N - 1, I...> {};
template <int... I>
struct MakeLanes<0, I...> {
    typedef Lanes<I...> Type;
};

// Exchanges, between rows i and i + S, the off-diagonal S x S corners: log2(N) such steps transpose N x N numbers.
template <int S, int N, class V, int... L>
inline void exchange(V& a, V& b, Lanes<L...>) {
    V low = __builtin_shufflevector(a, b, (L & S ? N + L - S : L)...);
    b = __builtin_shufflevector(a, b, (L & S ? N + L : L + S)...);
    a = low;
}
template <int S, int N, class V>
inline void exchange_all(V* rows) {
    UNROLL for (int i = 0; i < N; ++i) {
        if (!(i & S)) exchange<S, N>(rows[i], rows[i + S], typename MakeLanes<N>::Type{});
    }
    if constexpr (2 * S < N) exchange_all<2 * S, N>(rows);
}

template <int S, class V, int... L>
inline V swapped(V v, Lanes<L...>) {
    return __builtin_shufflevector(v, v, (L ^ S)...);
}
template <int S, int N, class V>
inline V spread_smallest(V v) {
    v = smaller(swapped<S>(v, typename MakeLanes<N>::Type{}), v);
    if constexpr (2 * S < N) return spread_smallest<2 * S, N>(v);
    return v;
}
#endif

// The smallest of N lanes.
template <class Number, int N, class V>
inline Number smallest_of(V v) {
#ifdef VICINAL_SHUFFLE
    return spread_smallest<1, N>(v)[0];
#else
    Number low = v[0];
    for (int i = 1; i < N; ++i) low = v[i] < low ? v[i] : low;
    return low;
#endif
}
template <class Real>
inline Real smallest(typename Vec<Real>::V v) {
    return smallest_of<Real, W<Real>>(v);
}
