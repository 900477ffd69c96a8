// Search structures for groups of one or two features. They return what a scan of all anchors returns, ties included.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels.hpp"

namespace vicinal {

template <class Real>
struct AnchorIndex {
    enum class Kind { none, line, grid } kind = Kind::none;
    LineIndex<Real> line;
    GridIndex<Real> grid;

    AnchorIndex() = default;
    AnchorIndex(AnchorIndex&&) = default;
    AnchorIndex& operator=(AnchorIndex&&) = default;

    static AnchorIndex over_line(std::vector<Real> points) {
        AnchorIndex out;
        out.kind = Kind::line;
        std::vector<std::int32_t> order(points.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return points[a] < points[b]; });
        for (auto id : order) {
            if (!out.numbers_.empty() && out.numbers_.back() == points[id]) continue;
            out.numbers_.push_back(points[id]);
            out.ids_.push_back(id);
        }
        out.line = {out.numbers_.data(), out.ids_.data(), static_cast<int>(out.ids_.size())};
        return out;
    }

    static AnchorIndex over_plane(std::vector<Real> xs, std::vector<Real> ys) {
        AnchorIndex out;
        out.kind = Kind::grid;
        const std::vector<Real>* points[2] = {&xs, &ys};
        const int size = static_cast<int>(xs.size());
        std::vector<Real> edges[2], nearest[2], farthest[2];
        for (int axis = 0; axis < 2; ++axis) {
            edges[axis] = quantile_edges(*points[axis], static_cast<int>(std::sqrt(size)));
            slab_distances(*points[axis], edges[axis], nearest[axis], farthest[axis]);
        }
        const int cells[2] = {static_cast<int>(edges[0].size()) - 1, static_cast<int>(edges[1].size()) - 1};
        std::vector<Real> candidates[2];
        out.starts_.push_back(0);
        std::vector<Real> bounds(cells[1]);
        std::vector<std::int32_t> in_reach(size);
        std::iota(in_reach.begin(), in_reach.end(), 0);
        for (int i = 0; i < cells[0]; ++i) {
            const Real *far_x = &farthest[0][i * size], *near_x = &nearest[0][i * size];
            for (int j = 0; j < cells[1]; ++j) {
                // Any anchor bounds the distance to the nearest one; the best of the cell before is seldom far off.
                const auto *from = in_reach.data(), *to = from + size;
                if (i > 0) {
                    const std::int32_t* starts = &out.starts_[(i - 1) * cells[1] + j];
                    from = out.ids_.data() + starts[0];
                    to = out.ids_.data() + starts[1];
                }
                const Real* far_y = &farthest[1][j * size];
                Real bound = std::numeric_limits<Real>::infinity();
                for (; from != to && *from >= 0; ++from) bound = std::min(bound, far_x[*from] + far_y[*from]);
                bounds[j] = bound * Real(1.0001);  // more than the rounding of the search
            }
            const Real widest = *std::max_element(bounds.begin(), bounds.end());
            in_reach.clear();
            for (int a = 0; a < size; ++a) {
                if (near_x[a] <= widest) in_reach.push_back(a);
            }
            for (int j = 0; j < cells[1]; ++j) {
                const Real* near_y = &nearest[1][j * size];
                for (auto a : in_reach) {
                    if (near_x[a] + near_y[a] > bounds[j]) continue;
                    out.ids_.push_back(a);
                    candidates[0].push_back(xs[a]);
                    candidates[1].push_back(ys[a]);
                }
                while (out.ids_.size() % LIST) {
                    out.ids_.push_back(-1);
                    for (auto& coordinate : candidates) coordinate.push_back(std::numeric_limits<Real>::infinity());
                }
                out.starts_.push_back(static_cast<std::int32_t>(out.ids_.size()));
            }
        }
        const int filled = (size + LIST - 1) / LIST * LIST;
        xs.resize(filled, std::numeric_limits<Real>::infinity());
        ys.resize(filled, std::numeric_limits<Real>::infinity());
        for (const auto& part : {edges[0], edges[1], candidates[0], candidates[1], xs, ys}) {
            out.numbers_.insert(out.numbers_.end(), part.begin(), part.end());
        }
        const Real* p = out.numbers_.data();
        auto take = [&](std::size_t count) { return std::exchange(p, p + count); };
        GridIndex<Real>& grid = out.grid;
        for (int axis = 0; axis < 2; ++axis) grid.edges[axis] = take(edges[axis].size());
        for (int axis = 0; axis < 2; ++axis) grid.points[axis] = take(out.ids_.size());
        for (int axis = 0; axis < 2; ++axis) grid.all[axis] = take(filled);
        for (int axis = 0; axis < 2; ++axis) grid.cells[axis] = cells[axis];
        grid.starts = out.starts_.data();
        grid.ids = out.ids_.data();
        grid.size = filled;
        return out;
    }

private:
    std::vector<Real> numbers_;  // moving the vectors keeps the addresses that line and grid point to
    std::vector<std::int32_t> ids_, starts_;

    static std::vector<Real> quantile_edges(std::vector<Real> points, int n_cells) {
        std::sort(points.begin(), points.end());
        std::vector<Real> edges;
        for (int c = 0; c <= n_cells; ++c) {
            Real edge = points[(points.size() - 1) * c / n_cells];
            if (edges.empty() || edge > edges.back()) edges.push_back(edge);
        }
        if (edges.size() == 1) edges.push_back(edges[0]);
        return edges;
    }

    // Squared distance, along one axis, of every anchor to the nearest and to the farthest point of every slab.
    static void slab_distances(const std::vector<Real>& points, const std::vector<Real>& edges,
                               std::vector<Real>& nearest, std::vector<Real>& farthest) {
        for (std::size_t c = 0; c + 1 < edges.size(); ++c) {
            for (Real p : points) {
                Real below = edges[c] - p, above = p - edges[c + 1];
                Real near = std::max({below, above, Real(0)}), far = std::max(-below, -above);
                nearest.push_back(near * near);
                farthest.push_back(far * far);
            }
        }
    }
};

}  // namespace vicinal
