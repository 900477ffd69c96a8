// Scores of a block of rows against panels of anchors. Included by kernels_impl.hpp once per instruction set.

// A slice of the features, of the rows and of a few anchors, stays in the nearest cache while a panel passes. Sums go
// on where the slice before left them: they come out the same for any slices and panels.
constexpr int SLICE = 128;
constexpr int PANEL_TILES = 8;

inline int slice_of(int m) {
    const int n_slices = m > SLICE ? (m + SLICE - 1) / SLICE : 1;
    return (m + n_slices - 1) / n_slices;
}

template <int N>
struct Count {
    static constexpr int value = N;
};

// Anchors from .. to in groups that are held in registers; few that are left make half a group.
template <class F>
inline __attribute__((always_inline)) void each_group(int from, int to, F f) {
    for (; to - from > RA / 2; from += RA) f(from, Count<RA>{});
    if (from < to) f(from, Count<RA / 2>{});
}

// The features first .. first + count against the anchors from .. to: start(anchor, row) and finish(anchor, row, sum)
// are about a vector of rows.
template <class Real, class Op, class Start, class Finish>
inline __attribute__((always_inline)) void slice_of_panel(const Real* x, int row, int m, int first, int count,
                                                          const Real* tiles, int from, int to, Start start,
                                                          Finish finish) {
    using V = typename Vec<Real>::V;
    each_group(from, to, [&](int a, auto n) __attribute__((always_inline)) {
        const Real* tile = tiles + (static_cast<std::ptrdiff_t>(a / TILE) * m + first) * TILE + a % TILE;
        micro_tile<Real, Op, decltype(n)::value>([&](int f) { return x + (first + f) * ROWS + row; }, count, tile,
                                                 [&](int i, int j) { return start(a + i, row + j * W<Real>); },
                                                 [&](int i, int j, V sum) { finish(a + i, row + j * W<Real>, sum); });
    });
}

// sums[(anchor - from) * ROWS + row] over the features before `stop`, slice by slice
template <class Real, class Op>
inline void add_slices(const Real* x, int m, int stop, const Real* tiles, const Real* init, int from, int to,
                       Real* sums) {
    using V = typename Vec<Real>::V;
    const int slice = slice_of(m);
    for (int first = 0; first < stop; first += slice) {
        const int count = stop - first < slice ? stop - first : slice;
        for (int row = 0; row < ROWS; row += RV * W<Real>) {
            auto keep = [&](int a, int at, V sum) { store(sums + (a - from) * ROWS + at, sum); };
            if (first == 0) {
                auto begin = [&](int a, int) { return splat<V>(init ? init[a] : Real(0)); };
                slice_of_panel<Real, Op>(x, row, m, first, count, tiles, from, to, begin, keep);
            } else {
                auto go_on = [&](int a, int at) { return load<V>(sums + (a - from) * ROWS + at); };
                slice_of_panel<Real, Op>(x, row, m, first, count, tiles, from, to, go_on, keep);
            }
        }
    }
}

template <class F>
inline void each_panel(int r, F f) {
    constexpr int PANEL = PANEL_TILES * TILE;
    for (int from = 0; from < r; from += PANEL) f(from, from + PANEL < r ? from + PANEL : r);
}

template <class Real, class Op>
inline void all_scores(const Real* x, int m, const Real* tiles, const Real* init, int r, Real* scores) {
    each_panel(r,
               [&](int from, int to) { add_slices<Real, Op>(x, m, m, tiles, init, from, to, scores + from * ROWS); });
}

template <class Real>
void dots(const Real* x, int m, const Real* tiles, const Real* init, int r, Real* scores) {
    all_scores<Real, Dot>(x, m, tiles, init, r, scores);
}
template <class Real>
void squares(const Real* x, int m, const Real* tiles, int r, Real* scores) {
    all_scores<Real, Square>(x, m, tiles, nullptr, r, scores);
}
template <class Real>
void absolutes(const Real* x, int m, const Real* tiles, int r, Real* scores) {
    all_scores<Real, Absolute>(x, m, tiles, nullptr, r, scores);
}

// The smallest score so far of each of some rows, whose it is, and the second smallest.
template <class Real>
struct Leader {
    using V = typename Vec<Real>::V;
    using I = typename Vec<Real>::I;
    V low = splat<V>(INF<Real>), second = splat<V>(INF<Real>);
    I at = I{} - 1;

    template <bool with_second>
    inline __attribute__((always_inline)) void meet(V score, int who) {
        I less = score < low;
        if constexpr (with_second) second = smaller(second, larger(score, low));
        low = smaller(low, score);
        at = less ? static_cast<typename Vec<Real>::Lane>(who) - I{} : at;
    }

    void write(Real* best, std::int32_t* index) const {
        store(best, low);
        for (int i = 0; i < W<Real>; ++i) index[i] = static_cast<std::int32_t>(at[i]);
    }
};

// The nearest anchor in one go: the sums of the last slice never leave the registers.
template <class Real, class Op, bool with_next>
inline void nearest_of_panels(const Real* x, int m, const Real* tiles, const Real* init, int r, Real* best, Real* next,
                              std::int32_t* index) {
    using V = typename Vec<Real>::V;
    const int last = (m - 1) / slice_of(m) * slice_of(m);
    Leader<Real> leaders[ROWS / W<Real>];
    alignas(64) Real sums[PANEL_TILES * TILE * ROWS];
    each_panel(r, [&](int from, int to) {
        add_slices<Real, Op>(x, m, last, tiles, init, from, to, sums);
        for (int row = 0; row < ROWS; row += RV * W<Real>) {
            Leader<Real> leader[RV];
            UNROLL for (int j = 0; j < RV; ++j) leader[j] = leaders[row / W<Real> + j];
            auto meet = [&](int a, int at, V score) {
                leader[(at - row) / W<Real>].template meet<with_next>(score, a);
            };
            if (last == 0) {
                auto begin = [&](int a, int) { return splat<V>(init ? init[a] : Real(0)); };
                slice_of_panel<Real, Op>(x, row, m, 0, m, tiles, from, to, begin, meet);
            } else {
                auto go_on = [&](int a, int at) { return load<V>(sums + (a - from) * ROWS + at); };
                slice_of_panel<Real, Op>(x, row, m, last, m - last, tiles, from, to, go_on, meet);
            }
            UNROLL for (int j = 0; j < RV; ++j) leaders[row / W<Real> + j] = leader[j];
        }
    });
    for (int row = 0; row < ROWS; row += W<Real>) {
        leaders[row / W<Real>].write(best + row, index + row);
        if constexpr (with_next) store(next + row, leaders[row / W<Real>].second);
    }
}

template <class Real>
void nearest_by_dots(const Real* x, int m, const Real* tiles, const Real* init, int r, Real* best, Real* next,
                     std::int32_t* index) {
    nearest_of_panels<Real, Dot, true>(x, m, tiles, init, r, best, next, index);
}
template <class Real>
void nearest_by_squares(const Real* x, int m, const Real* tiles, int r, Real* best, std::int32_t* index) {
    nearest_of_panels<Real, Square, false>(x, m, tiles, nullptr, r, best, nullptr, index);
}
