#include "neighbors.hpp"

#include <cmath>
#include <memory>

namespace vicinal {
namespace {

constexpr std::int64_t MOST_CHUNKS = 64;
constexpr std::int64_t SUMS_ENTRIES = 1 << 23;  // of all chunks' gradients: 64 MB

// products[j] += the product of rows i and j, for all j.
template <class Index>
void add_products(const WeightedRows<Index>& x, std::int64_t i, double* products) {
    for (Index e = x.row_starts[i]; e < x.row_starts[i + 1]; ++e) {
        const Index column = x.row_columns[e];
        const double factor = x.weights[column] * x.row_values[e];
        if (factor == 0) continue;
        for (Index f = x.column_starts[column]; f < x.column_starts[column + 1]; ++f) {
            products[x.column_rows[f]] += factor * x.column_values[f];
        }
    }
}

template <class Index>
void start_products(const WeightedRows<Index>& x, double* products) {
    if (x.bias) {
        std::copy(x.bias, x.bias + x.n_rows, products);
    } else {
        std::fill(products, products + x.n_rows, 0.0);
    }
}

// The sums of a chunk of rows; chunks are summed in their order, whoever worked on them.
struct Chunk {
    SoftmaxSums sums;
    std::unique_ptr<double[]> gradient, received;
};

template <class Index>
class SoftmaxWorker {
public:
    SoftmaxWorker(const InstructionSet& set, const WeightedRows<Index>& x, double scale, const Candidates& candidates,
                  std::int64_t n_chunks, bool with_gradient, std::vector<Chunk>& chunks)
        : set_(set), x_(x), scale_(scale), candidates_(candidates), n_chunks_(n_chunks), with_gradient_(with_gradient),
          chunks_(chunks), q_(static_cast<std::size_t>(candidates.rows ? candidates.count : x.n_rows)),
          row_(static_cast<std::size_t>(candidates.rows ? x.n_columns : 0)) {}

    void operator()(std::int64_t item, const std::atomic<bool>& stop) {
        Chunk& chunk = chunks_[item];
        if (with_gradient_) {
            chunk.gradient.reset(new double[x_.n_columns]());
            chunk.received.reset(new double[x_.n_rows]());
        }
        const std::int64_t first = item * x_.n_rows / n_chunks_, last = (item + 1) * x_.n_rows / n_chunks_;
        for (std::int64_t i = first; i < last && !stop; ++i) {
            if (candidates_.rows) {
                among(i, candidates_.rows + i * candidates_.count, chunk);
            } else {
                among_all(i, chunk);
            }
        }
    }

private:
    const InstructionSet& set_;
    const WeightedRows<Index>& x_;
    const double scale_;
    const Candidates& candidates_;
    const std::int64_t n_chunks_;
    const bool with_gradient_;
    std::vector<Chunk>& chunks_;
    std::vector<double> q_;    // products, then probabilities
    std::vector<double> row_;  // a number per column

    // Products to probabilities. Those in the middle, [left, right), are not others, or each is worth `share`.
    void normalise(std::int64_t left, std::int64_t right, double share, Chunk& chunk) {
        double* q = q_.data();
        const std::int64_t count = static_cast<std::int64_t>(q_.size());
        const double highest = *std::max_element(q, q + count);
        double total = 0, moment = 0, middle_total = 0, middle_moment = 0;
        set_.exponentials(q, left, scale_, highest, &total, &moment);
        set_.exponentials(q + left, right - left, scale_, highest, &middle_total, &middle_moment);
        set_.exponentials(q + right, count - right, scale_, highest, &total, &moment);
        total += share * middle_total;
        moment += share * middle_moment;
        chunk.sums.log_totals += scale_ * highest + std::log(total);
        chunk.sums.entropies += std::log(total) - moment / total;
        const double inverse = 1 / total;
        for (std::int64_t j = 0; j < count; ++j) q[j] *= inverse * (left <= j && j < right ? share : 1.0);
    }

    void among_all(std::int64_t i, Chunk& chunk) {
        start_products(x_, q_.data());
        add_products(x_, i, q_.data());
        q_[i] = q_[i == 0 ? 1 : 0];
        normalise(i, i + 1, 0.0, chunk);
        if (!with_gradient_) return;
        double* gradient = chunk.gradient.get();
        for (Index e = x_.row_starts[i]; e < x_.row_starts[i + 1]; ++e) {
            const Index column = x_.row_columns[e];
            gradient[column] += x_.row_values[e] * mean(column);
        }
        for (std::int64_t j = 0; j < x_.n_rows; ++j) chunk.received[j] += q_[j];
    }

    // The mean of a column under q. Several sums at a time do not wait for each other.
    double mean(Index column) const {
        constexpr int SUMS = 8;
        const Index* rows = x_.column_rows;
        const double *values = x_.column_values, *q = q_.data();
        const Index last = x_.column_starts[column + 1];
        Index f = x_.column_starts[column];
        double sums[SUMS] = {};
        for (; f + SUMS <= last; f += SUMS) {
            for (int s = 0; s < SUMS; ++s) sums[s] += q[rows[f + s]] * values[f + s];
        }
        for (; f < last; ++f) sums[0] += q[rows[f]] * values[f];
        return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }

    void among(std::int64_t i, const std::int32_t* others, Chunk& chunk) {
        for (Index e = x_.row_starts[i]; e < x_.row_starts[i + 1]; ++e) {
            row_[x_.row_columns[e]] = x_.weights[x_.row_columns[e]] * x_.row_values[e];
        }
        for (std::int64_t k = 0; k < candidates_.count; ++k) {
            double product = x_.bias ? x_.bias[others[k]] : 0.0;
            for (Index e = x_.row_starts[others[k]]; e < x_.row_starts[others[k] + 1]; ++e) {
                product += row_[x_.row_columns[e]] * x_.row_values[e];
            }
            q_[k] = product;
        }
        for (Index e = x_.row_starts[i]; e < x_.row_starts[i + 1]; ++e) row_[x_.row_columns[e]] = 0;
        normalise(candidates_.count - candidates_.n_sampled, candidates_.count, candidates_.share, chunk);
        if (!with_gradient_) return;
        for (std::int64_t k = 0; k < candidates_.count; ++k) {
            for (Index e = x_.row_starts[others[k]]; e < x_.row_starts[others[k] + 1]; ++e) {
                row_[x_.row_columns[e]] += q_[k] * x_.row_values[e];
            }
            chunk.received[others[k]] += q_[k];
        }
        for (Index e = x_.row_starts[i]; e < x_.row_starts[i + 1]; ++e) {
            chunk.gradient[x_.row_columns[e]] += x_.row_values[e] * row_[x_.row_columns[e]];
        }
        for (std::int64_t k = 0; k < candidates_.count; ++k) {
            for (Index e = x_.row_starts[others[k]]; e < x_.row_starts[others[k] + 1]; ++e) row_[x_.row_columns[e]] = 0;
        }
    }
};

}  // namespace

template <class Index>
bool softmax_sums(const InstructionSet& set, const WeightedRows<Index>& x, double scale, const Candidates& candidates,
                  int n_threads, const Interrupted& interrupted, SoftmaxSums& sums, double* gradient,
                  double* received) {
    const std::int64_t room = std::clamp<std::int64_t>(SUMS_ENTRIES / (x.n_rows + x.n_columns), 4, MOST_CHUNKS);
    const std::int64_t n_chunks = std::min(x.n_rows, room);
    std::vector<Chunk> chunks(static_cast<std::size_t>(n_chunks));
    const bool finished = run_parallel(n_chunks, n_threads, interrupted, [&] {
        return SoftmaxWorker<Index>(set, x, scale, candidates, n_chunks, gradient != nullptr, chunks);
    });
    if (!finished) return false;
    for (const Chunk& chunk : chunks) {
        sums.log_totals += chunk.sums.log_totals;
        sums.entropies += chunk.sums.entropies;
        for (std::int64_t t = 0; gradient && t < x.n_columns; ++t) gradient[t] += scale * chunk.gradient[t];
        for (std::int64_t j = 0; gradient && j < x.n_rows; ++j) received[j] += chunk.received[j];
    }
    return true;
}

template <class Index>
bool all_products(const WeightedRows<Index>& x, int n_threads, const Interrupted& interrupted, double* out) {
    return run_parallel(x.n_rows, n_threads, interrupted, [&] {
        return [&](std::int64_t i, const std::atomic<bool>&) {
            start_products(x, out + i * x.n_rows);
            add_products(x, i, out + i * x.n_rows);
        };
    });
}

#define VICINAL_INSTANTIATE(Index)                                                                                \
    template bool softmax_sums(const InstructionSet&, const WeightedRows<Index>&, double, const Candidates&, int, \
                               const Interrupted&, SoftmaxSums&, double*, double*);                               \
    template bool all_products(const WeightedRows<Index>&, int, const Interrupted&, double*);
VICINAL_INSTANTIATE(std::int32_t)
VICINAL_INSTANTIATE(std::int64_t)

}  // namespace vicinal
