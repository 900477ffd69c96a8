// Groups of few features, where what is kept of every score costs more than the score: one number per tile is kept, and
// the anchors of the best tile are looked at again. Included by kernels_impl.hpp once per instruction set.

template <class Real, int m>
void nearest_tile_of(const Real* x, const Real* tiles, const Real* init, int n_tiles, Real* best, Real* next,
                     std::int32_t* index) {
    using V = typename Vec<Real>::V;
    for (int row = 0; row < ROWS; row += RV * W<Real>) {
        V xv[m][RV];
        UNROLL for (int f = 0; f < m; ++f) {
            UNROLL for (int j = 0; j < RV; ++j) xv[f][j] = load<V>(x + f * ROWS + row + j * W<Real>);
        }
        Leader<Real> leader[RV];
        for (int t = 0; t < n_tiles; ++t) {
            const Real *tile = tiles + t * m * TILE, *start = init + t * TILE;
            V low[RV];
            UNROLL for (int i = 0; i < TILE; i += 2) {  // pairs: no long chain of minima
                V pair[2][RV];
                UNROLL for (int k = 0; k < 2; ++k) {
                    UNROLL for (int j = 0; j < RV; ++j) pair[k][j] = splat<V>(start[i + k]);
                    UNROLL for (int f = 0; f < m; ++f) {
                        V a = splat<V>(tile[f * TILE + i + k]);
                        UNROLL for (int j = 0; j < RV; ++j) Dot::step(pair[k][j], xv[f][j], a);
                    }
                }
                UNROLL for (int j = 0; j < RV; ++j) {
                    V nearer = smaller(pair[0][j], pair[1][j]);
                    low[j] = i == 0 ? nearer : smaller(low[j], nearer);
                }
            }
            UNROLL for (int j = 0; j < RV; ++j) leader[j].template meet<true>(low[j], t);
        }
        UNROLL for (int j = 0; j < RV; ++j) {
            leader[j].write(best + row + j * W<Real>, index + row + j * W<Real>);
            store(next + row + j * W<Real>, leader[j].second);
        }
    }
}

template <class Real>
void nearest_tile(const Real* x, int m, const Real* tiles, const Real* init, int n_tiles, Real* best, Real* next,
                  std::int32_t* index) {
    constexpr decltype(&nearest_tile_of<Real, 1>) of[FEW_FEATURES] = {
        nearest_tile_of<Real, 1>, nearest_tile_of<Real, 2>, nearest_tile_of<Real, 3>,
        nearest_tile_of<Real, 4>, nearest_tile_of<Real, 5>, nearest_tile_of<Real, 6>};
    of[m - 1](x, tiles, init, n_tiles, best, next, index);
}

template <class Real>
void nearest_in_tile(const Real* x, int m, const Real* tiles, Real* best, std::int32_t* index) {
    constexpr int LANES = W<Real> < 4 ? W<Real> : 4;
    typedef Real Q __attribute__((vector_size(LANES * sizeof(Real))));
    typedef typename Vec<Real>::Lane QI __attribute__((vector_size(LANES * sizeof(Real))));
    constexpr int PARTS = TILE / LANES;
    QI places[PARTS];
    for (int i = 0; i < TILE; ++i) places[i / LANES][i % LANES] = i;
    for (int row = 0; row < ROWS; ++row) {
        const int first = index[row] < 0 ? 0 : index[row];  // no row stands there, and anything may
        const Real* tile = tiles + static_cast<std::ptrdiff_t>(first) * m * TILE;
        Q score[PARTS] = {};
        for (int f = 0; f < m; ++f) {
            UNROLL for (int q = 0; q < PARTS; ++q) {
                Q d = x[f * ROWS + row] - load<Q>(tile + f * TILE + q * LANES);
                score[q] += d * d;
            }
        }
        Q low = score[0];
        UNROLL for (int q = 1; q < PARTS; ++q) low = smaller(low, score[q]);
        const Real least = smallest_of<Real, LANES>(low);
        QI at = TILE - QI{};
        UNROLL for (int q = PARTS - 1; q >= 0; --q) at = score[q] == splat<Q>(least) ? places[q] : at;
        best[row] = least;
        index[row] = first * TILE + static_cast<int>(smallest_of<typename Vec<Real>::Lane, LANES>(at));
    }
}
