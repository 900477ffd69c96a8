// Nearest anchors by an index over one or two features. Included by kernels_impl.hpp inside a namespace of each
// instruction set; no include guard.

// How many of the ascending numbers lie below each x: all rows step together, without branches.
template <class Real>
inline void count_below(const Real* ascending, int size, const Real* x, std::int32_t* counts) {
    for (int row = 0; row < ROWS; ++row) counts[row] = 0;
    if (size == 0) return;
    while (size > 1) {
        const int half = size / 2;
        for (int row = 0; row < ROWS; ++row) {
            counts[row] += ascending[counts[row] + half - 1] < x[row] ? half : 0;
        }
        size -= half;
    }
    for (int row = 0; row < ROWS; ++row) counts[row] += ascending[counts[row]] < x[row] ? 1 : 0;
}

template <class Real>
bool search_line(const LineIndex<Real>& line, Metric metric, const Real* x0, Real* best, std::int32_t* index) {
    std::int32_t rights[ROWS];
    count_below(line.values, line.size, x0, rights);
    bool finite = true;
    for (int row = 0; row < ROWS; ++row) {
        const Real x = x0[row];
        auto score = [&](int i) {
            Real d = x - line.values[i];
            return metric == Metric::euclidean ? d * d : (d < 0 ? -d : d);
        };
        int left = rights[row] > 0 ? rights[row] - 1 : 0;
        int right = rights[row] < line.size ? rights[row] : line.size - 1;
        const Real on_left = score(left), on_right = score(right);
        const std::int32_t id_left = line.ids[left], id_right = line.ids[right];
        const Real low = on_left < on_right ? on_left : on_right;
        std::int32_t id = on_left < on_right || (on_left == on_right && id_left < id_right) ? id_left : id_right;
        // Scores only grow on the way out, but rounding can make neighbours equal: then the lower index wins.
        while (--left >= 0 && score(left) <= low) id = line.ids[left] < id ? line.ids[left] : id;
        while (++right < line.size && score(right) <= low) id = line.ids[right] < id ? line.ids[right] : id;
        best[row] = low;
        index[row] = id;
        finite &= low < INF<Real>;
    }
    return finite;
}

// The nearest of some points of the plane to (x, y), a vector of points at a time; ties to the first.
template <class Real>
inline int nearest_point(const Real* px, const Real* py, int size, Real x, Real y, Real& best) {
    using V = typename Vec<Real>::V;
    using I = typename Vec<Real>::I;
    using Lane = typename Vec<Real>::Lane;
    V low = splat<V>(INF<Real>);
    I from = I{};
    for (int i = 0; i < size; i += W<Real>) {
        V score = V{}, d = x - load<V>(px + i);
        score += d * d;
        d = y - load<V>(py + i);
        score += d * d;
        I less = score < low;
        low = less ? score : low;
        from = less ? static_cast<Lane>(i) - I{} : from;
    }
    best = smallest<Real>(low);
    int at = size;
    for (std::uint32_t hits = bits<Real>(low == splat<V>(best)); hits; hits &= hits - 1) {
        int lane = __builtin_ctz(hits), found = static_cast<int>(from[lane]) + lane;
        at = found < at ? found : at;
    }
    return at;
}

template <class Real>
bool search_grid(const GridIndex<Real>& grid, const Real* x0, const Real* x1, Real* best, std::int32_t* index) {
    std::int32_t cell_x[ROWS], cell_y[ROWS];
    count_below(grid.edges[0] + 1, grid.cells[0] - 1, x0, cell_x);
    count_below(grid.edges[1] + 1, grid.cells[1] - 1, x1, cell_y);
    const Real low_x = grid.edges[0][0], high_x = grid.edges[0][grid.cells[0]];
    const Real low_y = grid.edges[1][0], high_y = grid.edges[1][grid.cells[1]];
    bool finite = true;
    for (int row = 0; row < ROWS; ++row) {
        const Real x = x0[row], y = x1[row];
        if ((x >= low_x) & (x <= high_x) & (y >= low_y) & (y <= high_y)) {
            const std::int32_t* start = grid.starts + cell_x[row] * grid.cells[1] + cell_y[row];
            int at =
                nearest_point(grid.points[0] + *start, grid.points[1] + *start, start[1] - *start, x, y, best[row]);
            index[row] = grid.ids[*start + at];
        } else {
            index[row] = nearest_point(grid.all[0], grid.all[1], grid.size, x, y, best[row]);
        }
        finite &= best[row] < INF<Real>;
    }
    return finite;
}
