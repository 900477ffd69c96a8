#include "triplets.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace vicinal {

namespace {

constexpr std::int64_t most_sums = std::int64_t(1) << 24;  // numbers that chunks of rows may hold together
constexpr std::int64_t most_chunks = 64;
constexpr std::int64_t triplets_per_chunk = 256;
constexpr std::int64_t ahead = 6;  // triplets whose rows are fetched in advance
constexpr int most_fetched = 1024;

template <class Rows>
void fetch(const Rows& x, std::int32_t row) {
    using Index = typename Rows::Index;
    constexpr Index line = 64 / sizeof(Index), line_of_values = 64 / sizeof(typename Rows::Value);
    const Index start = x.starts[row], end = std::min<Index>(x.starts[row + 1], start + most_fetched);
    for (Index e = start; e < end; e += line) __builtin_prefetch(x.columns + e);
    if (!x.values) return;
    for (Index e = start; e < end; e += line_of_values) __builtin_prefetch(x.values + e);
}

// A row whose columns are marked by its number in the order of held rows, so that products with it need no search, and
// marks need no clearing.
template <class Rows>
class Marked {
public:
    using Index = typename Rows::Index;
    using Value = typename Rows::Value;

    explicit Marked(const Rows& x)
        : x_(x), marks_(static_cast<std::size_t>(x.n_columns)), held_(x.values ? marks_.size() : 0) {}

    void hold(std::int64_t row) {
        const std::uint32_t mark = ++mark_;
        std::uint32_t* marks = marks_.data();
        const Index* columns = x_.columns;
        const Index start = x_.starts[row], end = x_.starts[row + 1];
        for (Index e = start; e < end; ++e) marks[columns[e]] = mark;
        if (!x_.values) return;
        const Value* values = x_.values;
        Value* held = held_.data();
        for (Index e = start; e < end; ++e) held[columns[e]] = values[e];
    }

    // Appends the columns that another row shares with the held one, and sign times the products.
    void collect(std::int64_t other, double sign) {
        const std::size_t before = count;
        const auto size = static_cast<std::size_t>(x_.starts[other + 1] - x_.starts[other]);
        if (columns.size() < before + size) {
            columns.resize(before + size);
            products.resize(before + size);
            entries_.resize(before + size);
        }
        const Index* theirs = x_.columns;
        const Index last = x_.starts[other + 1];
        const std::uint32_t mark = mark_, *marks = marks_.data();
        Index* entries = entries_.data();
        std::size_t found = before;
        for (Index e = x_.starts[other]; e < last; ++e) {  // without a branch, which nobody could guess
            entries[found] = e;
            found += marks[theirs[e]] == mark;
        }
        count = found;
        for (std::size_t m = before; m < found; ++m) columns[m] = theirs[entries[m]];
        if (!x_.values) {
            std::fill(products.begin() + before, products.begin() + found, sign);
            return;
        }
        for (std::size_t m = before; m < found; ++m)
            products[m] = sign * double(held_[columns[m]]) * double(x_.values[entries[m]]);
    }

    // The columns of x_i * (x_j - x_k); those that both pairs share stand twice.
    void take(const std::int32_t* triplet) {
        count = 0;
        hold(triplet[0]);
        collect(triplet[1], +1);
        collect(triplet[2], -1);
    }

    double dot(const double* weights) const {
        double sums[4] = {};
        std::size_t m = 0;
        for (; m + 4 <= count; m += 4) {
            for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += weights[columns[m + lane]] * products[m + lane];
        }
        for (; m < count; ++m) sums[0] += weights[columns[m]] * products[m];
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }

    std::vector<Index> columns;
    std::vector<double> products;
    std::size_t count = 0;

private:
    const Rows& x_;
    std::vector<std::uint32_t> marks_;
    std::uint32_t mark_ = 0;  // a call holds far fewer rows than there are marks
    std::vector<Value> held_;
    std::vector<Index> entries_;
};

template <class Rows>
void step_down(const Marked<Rows>& shared, MarginLoss loss, double first_step, const Descent& d) {
    const double step_number = *d.steps += 1;
    const double downhill = slope(loss, *d.scale * shared.dot(d.direction));
    double length = first_step / std::sqrt(step_number);
    if (d.penalty > 0) {
        length = 1 / (d.penalty * step_number);
        if (step_number > 1) *d.scale *= 1 - 1 / step_number;  // the first step would shrink weights of zero to zero
    }
    const double change = length * downhill / *d.scale;
    if (change > 0) {
        const auto* columns = shared.columns.data();
        const double* products = shared.products.data();
        double *direction = d.direction, *correction = d.correction;
        const double corrected = *d.passed * change;
        const std::size_t count = shared.count;
        for (std::size_t m = 0; m < count; ++m) {
            direction[columns[m]] += change * products[m];
            correction[columns[m]] += corrected * products[m];
        }
    }
    *d.passed += (d.penalty > 0 ? step_number : 1) * *d.scale;
}

}  // namespace

template <class Rows>
void triplet_steps(const Rows& x, const std::int32_t* triplets, std::int64_t count, MarginLoss loss, double first_step,
                   const std::vector<Descent>& descents) {
    Marked<Rows> shared(x);
    for (std::int64_t t = 0; t < count; ++t) {
        if (t + 2 * ahead < count) {
            for (int end = 0; end < 3; ++end) __builtin_prefetch(x.starts + triplets[3 * (t + 2 * ahead) + end]);
        }
        if (t + ahead < count) {
            for (int end = 0; end < 3; ++end) fetch(x, triplets[3 * (t + ahead) + end]);
        }
        shared.take(triplets + 3 * t);
        for (const Descent& descent : descents) step_down(shared, loss, first_step, descent);
    }
}

template <class Rows>
bool triplet_margins(const Rows& x, const std::int32_t* triplets, std::int64_t count, const double* weights,
                     std::int64_t n_weights, int n_threads, const Interrupted& interrupted, double* margins,
                     double* squares) {
    const std::int64_t n_chunks = (count + triplets_per_chunk - 1) / triplets_per_chunk;
    return run_parallel(n_chunks, n_threads, interrupted, [&] {
        return [&, shared = Marked<Rows>(x), sums = std::vector<double>(static_cast<std::size_t>(x.n_columns))](
                   std::int64_t chunk, const std::atomic<bool>& stop) mutable {
            const std::int64_t last = std::min(count, (chunk + 1) * triplets_per_chunk);
            for (std::int64_t t = chunk * triplets_per_chunk; t < last && !stop; ++t) {
                shared.take(triplets + 3 * t);
                for (std::int64_t w = 0; w < n_weights; ++w) {
                    margins[t * n_weights + w] = shared.dot(weights + w * x.n_columns);
                }
                double square = 0;
                for (std::size_t m = 0; m < shared.count; ++m) sums[shared.columns[m]] += shared.products[m];
                for (std::size_t m = 0; m < shared.count; ++m) {
                    double& sum = sums[shared.columns[m]];
                    square += sum * sum;
                    sum = 0;  // a column that both pairs share stands twice
                }
                squares[t] = square;
            }
        };
    });
}

template <class Rows, class Node>
bool link_products(const Rows& x, const Links<Node>& links, int n_threads, const Interrupted& interrupted,
                   double* sums) {
    const std::int64_t n_chunks =
        std::clamp<std::int64_t>(most_sums / std::max<std::int64_t>(1, x.n_columns), 1, most_chunks);
    const auto width = static_cast<std::size_t>(x.n_columns);
    std::vector<double> parts(static_cast<std::size_t>(n_chunks) * width);
    const bool finished = run_parallel(n_chunks, n_threads, interrupted, [&] {
        return [&, shared = Marked<Rows>(x)](std::int64_t chunk, const std::atomic<bool>& stop) mutable {
            double* part = parts.data() + static_cast<std::size_t>(chunk) * width;
            const std::int64_t first = chunk * x.n_rows / n_chunks, last = (chunk + 1) * x.n_rows / n_chunks;
            for (std::int64_t i = first; i < last && !stop; ++i) {
                if (links.starts[i] == links.starts[i + 1]) continue;
                shared.hold(i);
                for (Node e = links.starts[i]; e < links.starts[i + 1]; ++e) {
                    if (e + ahead < links.starts[x.n_rows]) {
                        fetch(x, static_cast<std::int32_t>(links.targets[e + ahead]));
                    }
                    shared.count = 0;
                    shared.collect(links.targets[e], 1);
                    for (std::size_t m = 0; m < shared.count; ++m) part[shared.columns[m]] += shared.products[m];
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

#define LINKED(Node) \
    template void are_linked(const Links<Node>&, const std::int32_t*, const std::int32_t*, std::int64_t, std::uint8_t*);
#define PRODUCTS(Rows, Node) \
    template bool link_products(const Rows&, const Links<Node>&, int, const Interrupted&, double*);
#define ALL(Rows)                                                                                                   \
    template void triplet_steps(const Rows&, const std::int32_t*, std::int64_t, MarginLoss, double,                 \
                                const std::vector<Descent>&);                                                       \
    template bool triplet_margins(const Rows&, const std::int32_t*, std::int64_t, const double*, std::int64_t, int, \
                                  const Interrupted&, double*, double*);                                            \
    PRODUCTS(Rows, std::int32_t)                                                                                    \
    PRODUCTS(Rows, std::int64_t)

using Short = SparseView<std::int32_t, double>;
using Long = SparseView<std::int64_t, double>;
using ShortSingle = SparseView<std::int32_t, float>;
using LongSingle = SparseView<std::int64_t, float>;
ALL(Short)
ALL(Long)
ALL(ShortSingle)
ALL(LongSingle)
LINKED(std::int32_t)
LINKED(std::int64_t)

}  // namespace vicinal
