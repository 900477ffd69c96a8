// Distances along a landmark's own directions. Included by kernels_impl.hpp once per instruction set.

// Adds up, over directions, what the difference `part` between a landmark and some rows contributes to their distance.
template <class Real, Metric metric>
struct Along {
    using V = typename Vec<Real>::V;
    V sum = {}, squares = {};
    Real length = 0;

    void add(V part, Real own) {
        if constexpr (metric == Metric::euclidean) sum += part * part;
        if constexpr (metric == Metric::manhattan) sum += larger(part, -part);
        if constexpr (metric == Metric::cosine) {
            part = own - part;
            sum += part * own;
            squares += part * part;
            length += own * own;
        }
    }

    V distance() const {
        if constexpr (metric == Metric::euclidean) return finite(root<Real>(sum));
        if constexpr (metric == Metric::manhattan) return finite(sum);
        V lengths = root<Real>(squares) * root<Real>(splat<V>(length));
        return finite(larger(lengths > 0 ? 1 - sum / lengths : splat<V>(Real(1)), V{}));
    }

    // A row so far off that its squares overflow is as far as many distances can be and still be added up.
    static V finite(V distance) {
        constexpr Real most = (sizeof(Real) == 4 ? __FLT_MAX__ : __DBL_MAX__) / 65536;
        return distance < most ? distance : splat<V>(most);
    }
};

template <class Real, Metric metric>
void distances_along_as(const Real* x, const std::int32_t* features, int m, const Real* tiles, const Real* own,
                        int n_tiles, Real* distances) {
    using V = typename Vec<Real>::V;
    for (int row = 0; row < ROWS; row += RV * W<Real>) {
        Along<Real, metric> along[RV];
        for (int t = 0; t < n_tiles; ++t) {
            const Real* tile = tiles + static_cast<std::ptrdiff_t>(t) * m * TILE;
            for (int i = 0; i < TILE; i += RA) {
                const Real* init = own + t * TILE + i;
                micro_tile<Real, Dot, RA>(
                    [&](int f) { return x + static_cast<std::ptrdiff_t>(features[f]) * ROWS + row; }, m, tile + i,
                    [&](int a, int) { return splat<V>(init[a]); },
                    [&](int a, int j, V part) { along[j].add(part, init[a]); });
            }
        }
        UNROLL for (int j = 0; j < RV; ++j) store(distances + row + j * W<Real>, along[j].distance());
    }
}

template <class Real>
void distances_along(const Real* x, const std::int32_t* features, int m, const Real* tiles, const Real* own,
                     int n_tiles, Metric metric, Real* distances) {
    auto run = metric == Metric::euclidean   ? distances_along_as<Real, Metric::euclidean>
               : metric == Metric::manhattan ? distances_along_as<Real, Metric::manhattan>
                                             : distances_along_as<Real, Metric::cosine>;
    run(x, features, m, tiles, own, n_tiles, distances);
}

template <class Real, Metric metric>
void distances_of_parts_as(const Real* parts, int q, const Real* own, Real* distances) {
    using V = typename Vec<Real>::V;
    for (int row = 0; row < ROWS; row += W<Real>) {
        Along<Real, metric> along;
        for (int j = 0; j < q; ++j) along.add(load<V>(parts + j * ROWS + row), own[j]);
        store(distances + row, along.distance());
    }
}

template <class Real>
void distances_of_parts(const Real* parts, int q, Metric metric, const Real* own, Real* distances) {
    auto run = metric == Metric::euclidean   ? distances_of_parts_as<Real, Metric::euclidean>
               : metric == Metric::manhattan ? distances_of_parts_as<Real, Metric::manhattan>
                                             : distances_of_parts_as<Real, Metric::cosine>;
    run(parts, q, own, distances);
}
