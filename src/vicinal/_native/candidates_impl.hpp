// Rows whose scores are low enough to be looked at. Included by kernels_impl.hpp once per instruction set.

// One branch for a whole tile of scores: most have none.
template <class Real, class Op>
int candidates_of_tiles(const Real* x, int m, const Real* tiles, const Real* init, int n_tiles, const Real* limits,
                        Candidate<Real>* found) {
    using V = typename Vec<Real>::V;
    using I = typename Vec<Real>::I;
    int count = 0;
    for (int a = 0; a < n_tiles * TILE; a += RA) {
        const Real* tile = tiles + static_cast<std::ptrdiff_t>(a / TILE) * m * TILE + a % TILE;
        for (int row = 0; row < ROWS; row += RV * W<Real>) {
            V scores[RA][RV];
            UNROLL for (int i = 0; i < RA; ++i) {
                UNROLL for (int j = 0; j < RV; ++j) scores[i][j] = splat<V>(init ? init[a + i] : Real(0));
            }
            for (int f = 0; f < m; ++f) {
                V xv[RV];
                UNROLL for (int j = 0; j < RV; ++j) xv[j] = load<V>(x + f * ROWS + row + j * W<Real>);
                UNROLL for (int i = 0; i < RA; ++i) {
                    V entry = splat<V>(tile[f * TILE + i]);
                    UNROLL for (int j = 0; j < RV; ++j) Op::step(scores[i][j], xv[j], entry);
                }
            }
            V limit[RV];
            UNROLL for (int j = 0; j < RV; ++j) limit[j] = load<V>(limits + row + j * W<Real>);
            I any{};
            UNROLL for (int i = 0; i < RA; ++i) { UNROLL for (int j = 0; j < RV; ++j) any |= scores[i][j] <= limit[j]; }
            if (!bits<Real>(any)) continue;
            Real stored[RA][RV * W<Real>];
            UNROLL for (int i = 0; i < RA; ++i) {
                UNROLL for (int j = 0; j < RV; ++j) store(stored[i] + j * W<Real>, scores[i][j]);
            }
            for (int i = 0; i < RA; ++i) {
                for (int r = 0; r < RV * W<Real>; ++r) {
                    if (stored[i][r] <= limits[row + r]) found[count++] = {stored[i][r], row + r, a + i};
                }
            }
        }
    }
    return count;
}

template <class Real>
int candidates_by_dots(const Real* x, int m, const Real* tiles, const Real* init, int n_tiles, const Real* limits,
                       Candidate<Real>* found) {
    return candidates_of_tiles<Real, Dot>(x, m, tiles, init, n_tiles, limits, found);
}
template <class Real>
int candidates_by_absolutes(const Real* x, int m, const Real* tiles, const Real* init, int n_tiles, const Real* limits,
                            Candidate<Real>* found) {
    return candidates_of_tiles<Real, Absolute>(x, m, tiles, init, n_tiles, limits, found);
}

template <class Real>
int differences_below(const Real* init, const Real* sums, int count, Real limit, std::int32_t* found) {
    using V = typename Vec<Real>::V;
    int n_found = 0, j = 0;
    for (; j + W<Real> <= count; j += W<Real>) {
        std::uint32_t hits = bits<Real>(load<V>(init + j) - load<V>(sums + j) <= splat<V>(limit));
        for (; hits; hits &= hits - 1) found[n_found++] = j + __builtin_ctz(hits);
    }
    for (; j < count; ++j) {
        if (init[j] - sums[j] <= limit) found[n_found++] = j;
    }
    return n_found;
}
