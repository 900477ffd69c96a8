#include "triplets.hpp"

#include <cmath>
#include <vector>

namespace vicinal {

namespace {

constexpr std::int64_t most_sums = std::int64_t(1) << 24;  // numbers that chunks of rows may hold together
constexpr std::int64_t most_chunks = 64;
constexpr std::int64_t ahead = 6;  // triplets whose rows are fetched in advance

double slope(MarginLoss loss, double margin) {
    if (loss == MarginLoss::identity) return 1;
    if (loss == MarginLoss::hinge) return margin < 1 ? 1 : 0;
    return margin > 0 ? std::exp(-margin) / (1 + std::exp(-margin)) : 1 / (1 + std::exp(margin));
}

template <class Index>
void fetch(const SparseView<Index>& x, std::int32_t row) {
    const Index start = x.starts[row];
    __builtin_prefetch(x.columns + start);
    __builtin_prefetch(x.columns + start + 64 / sizeof(Index));
    if (x.values) __builtin_prefetch(x.values + start);
}

// A row held as a vector of all columns, so that products with it need no search.
template <class Index>
class Spread {
public:
    explicit Spread(const SparseView<Index>& x) : x_(x), held_(static_cast<std::size_t>(x.n_columns)) {}

    void hold(std::int64_t row) {
        for (Index e = x_.starts[row_]; e < x_.starts[row_ + 1]; ++e) held_[x_.columns[e]] = 0;
        row_ = row;
        for (Index e = x_.starts[row]; e < x_.starts[row + 1]; ++e) held_[x_.columns[e]] = value(e);
    }

    // f(column, product) for every column of another row that the held row has, too.
    template <class F>
    void each(std::int64_t other, F f) const {
        for (Index e = x_.starts[other]; e < x_.starts[other + 1]; ++e) {
            const double product = held_[x_.columns[e]] * value(e);
            if (product != 0) f(x_.columns[e], product);
        }
    }

    double dot(std::int64_t other, const double* weights) const {
        double sum = 0;
        for (Index e = x_.starts[other]; e < x_.starts[other + 1]; ++e) {
            const Index column = x_.columns[e];
            sum += held_[column] * value(e) * weights[column];
        }
        return sum;
    }

private:
    double value(Index e) const { return x_.values ? x_.values[e] : 1.0; }

    const SparseView<Index>& x_;
    std::vector<double> held_;
    std::int64_t row_ = 0;
};

}  // namespace

template <class Index>
void triplet_steps(const SparseView<Index>& x, const std::int32_t* triplets, std::int64_t count, MarginLoss loss,
                   Descent& d) {
    Spread<Index> pivot(x);
    for (std::int64_t t = 0; t < count; ++t) {
        if (t + 2 * ahead < count) {
            for (int end = 0; end < 3; ++end) __builtin_prefetch(x.starts + triplets[3 * (t + 2 * ahead) + end]);
        }
        if (t + ahead < count) {
            for (int end = 0; end < 3; ++end) fetch(x, triplets[3 * (t + ahead) + end]);
        }
        const std::int32_t *triplet = triplets + 3 * t, linked = triplet[1], unlinked = triplet[2];
        const double step_number = static_cast<double>(++d.steps);
        pivot.hold(triplet[0]);
        const double margin = d.scale * (pivot.dot(linked, d.direction) - pivot.dot(unlinked, d.direction));
        double length = d.first_step / std::sqrt(step_number);
        if (d.penalty > 0) {
            length = 1 / (d.penalty * step_number);
            if (d.steps > 1) d.scale *= 1 - 1 / step_number;  // the first step shrinks weights of zero
        }
        const double change = length * slope(loss, margin) / d.scale;
        if (change > 0) {
            const auto add = [&](double sign) {
                return [&d, change = sign * change](Index column, double product) {
                    d.direction[column] += change * product;
                    d.correction[column] += d.passed * change * product;
                };
            };
            pivot.each(linked, add(+1));
            pivot.each(unlinked, add(-1));
        }
        d.passed += (d.linear ? step_number : 1) * d.scale;
    }
}

template <class Index, class Node>
bool link_products(const SparseView<Index>& x, const Links<Node>& links, int n_threads, const Interrupted& interrupted,
                   double* sums) {
    const std::int64_t n_chunks =
        std::clamp<std::int64_t>(most_sums / std::max<std::int64_t>(1, x.n_columns), 1, most_chunks);
    const auto width = static_cast<std::size_t>(x.n_columns);
    std::vector<double> parts(static_cast<std::size_t>(n_chunks) * width);
    const bool finished = run_parallel(n_chunks, n_threads, interrupted, [&] {
        return [&, pivot = Spread<Index>(x)](std::int64_t chunk, const std::atomic<bool>& stop) mutable {
            double* part = parts.data() + static_cast<std::size_t>(chunk) * width;
            const std::int64_t first = chunk * x.n_rows / n_chunks, last = (chunk + 1) * x.n_rows / n_chunks;
            for (std::int64_t i = first; i < last && !stop; ++i) {
                if (links.starts[i] == links.starts[i + 1]) continue;
                pivot.hold(i);
                for (Node e = links.starts[i]; e < links.starts[i + 1]; ++e) {
                    if (e + ahead < links.starts[x.n_rows]) {
                        fetch(x, static_cast<std::int32_t>(links.targets[e + ahead]));
                    }
                    pivot.each(links.targets[e], [part](Index column, double product) { part[column] += product; });
                }
            }
        };
    });
    std::fill(sums, sums + width, 0.0);
    for (std::int64_t chunk = 0; chunk < n_chunks; ++chunk) {
        for (std::size_t p = 0; p < width; ++p) sums[p] += parts[static_cast<std::size_t>(chunk) * width + p];
    }
    return finished;
}

template <class Node>
void are_linked(const Links<Node>& links, const std::int32_t* first, const std::int32_t* second, std::int64_t count,
                std::uint8_t* out) {
    for (std::int64_t t = 0; t < count; ++t) {
        const Node *begin = links.targets + links.starts[first[t]], *end = links.targets + links.starts[first[t] + 1];
        out[t] = std::binary_search(begin, end, static_cast<Node>(second[t]));
    }
}

#define STEPS(Index) \
    template void triplet_steps(const SparseView<Index>&, const std::int32_t*, std::int64_t, MarginLoss, Descent&);
#define PRODUCTS(Index, Node) \
    template bool link_products(const SparseView<Index>&, const Links<Node>&, int, const Interrupted&, double*);
#define LINKED(Node) \
    template void are_linked(const Links<Node>&, const std::int32_t*, const std::int32_t*, std::int64_t, std::uint8_t*);
STEPS(std::int32_t)
STEPS(std::int64_t)
PRODUCTS(std::int32_t, std::int32_t)
PRODUCTS(std::int32_t, std::int64_t)
PRODUCTS(std::int64_t, std::int32_t)
PRODUCTS(std::int64_t, std::int64_t)
LINKED(std::int32_t)
LINKED(std::int64_t)

}  // namespace vicinal
