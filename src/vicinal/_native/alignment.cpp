#include "alignment.hpp"

#include <algorithm>
#include <vector>

namespace vicinal {
namespace {

constexpr std::int64_t MOST_PARTS = 64;
constexpr std::int64_t ROOM = 1 << 23;  // numbers that all parts hold together

// The sums of a part of the rows; parts are summed in their order, whoever worked on them.
struct Part {
    double total = 0;
    std::vector<double> received, products;
};

template <class Index, class Node>
class AlignmentWorker {
public:
    AlignmentWorker(const InstructionSet& set, const WeightedRows<Index>& x, const CentredGraph<Node>& graph,
                    double scale, bool everywhere, std::vector<Part>& parts)
        : set_(set), x_(x), graph_(graph), scale_(scale), everywhere_(everywhere), parts_(parts),
          after_(static_cast<std::size_t>(x.n_columns)), m_(static_cast<std::size_t>(x.n_rows)) {}

    void operator()(std::int64_t item, const std::atomic<bool>& stop) {
        const auto n_parts = static_cast<std::int64_t>(parts_.size());
        const std::int64_t first = item * x_.n_rows / n_parts, last = (item + 1) * x_.n_rows / n_parts;
        Part& part = parts_[item];
        part.received.assign(static_cast<std::size_t>(x_.n_rows), 0.0);
        part.products.assign(static_cast<std::size_t>(x_.n_columns), 0.0);
        for (std::int64_t t = 0; t < x_.n_columns; ++t) {
            const Index *begin = x_.column_rows + x_.column_starts[t], *end = x_.column_rows + x_.column_starts[t + 1];
            after_[t] = static_cast<Index>(std::lower_bound(begin, end, static_cast<Index>(first)) - x_.column_rows);
        }
        for (std::int64_t i = first; i < last && !stop; ++i) {
            exponents(i);
            compare(i, part);
            collect(i, part.products.data());
        }
    }

private:
    const InstructionSet& set_;
    const WeightedRows<Index>& x_;
    const CentredGraph<Node>& graph_;
    const double scale_;
    const bool everywhere_;
    std::vector<Part>& parts_;
    std::vector<Index> after_;  // per column, its first entry below row i
    std::vector<double> m_;     // exponents of row i, then row i of K, then of M
    std::vector<double> joined_;

    void exponents(std::int64_t i) {
        double* m = m_.data();
        std::copy(x_.bias + i + 1, x_.bias + x_.n_rows, m + i + 1);
        for (Index e = x_.row_starts[i]; e < x_.row_starts[i + 1]; ++e) {
            const Index column = x_.row_columns[e];
            ++after_[column];  // row i itself
            const double factor = x_.weights[column] * x_.row_values[e];
            if (factor == 0) continue;
            for (Index f = after_[column]; f < x_.column_starts[column + 1]; ++f) {
                m[x_.column_rows[f]] += factor * x_.column_values[f];
            }
        }
    }

    void compare(std::int64_t i, Part& part) {
        double *m = m_.data(), *received = part.received.data(), unused[2] = {};
        set_.exponentials(m + i + 1, x_.n_rows - i - 1, scale_, -x_.bias[i], unused, unused + 1);
        joined_.clear();
        for (Node e = graph_.starts[i]; e < graph_.starts[i + 1]; ++e) {
            joined_.push_back(graph_.targets[e] > i ? graph_.weights[e] * m[graph_.targets[e]] : 0.0);
        }
        const double shift = graph_.mean - graph_.means[i], *means = graph_.means;
        for (std::int64_t j = i + 1; j < x_.n_rows; ++j) m[j] *= shift - means[j];
        for (Node e = graph_.starts[i]; e < graph_.starts[i + 1]; ++e) {
            if (graph_.targets[e] > i) m[graph_.targets[e]] += joined_[e - graph_.starts[i]];
        }
        double sums[4] = {};
        std::int64_t j = i + 1;
        for (; j + 4 <= x_.n_rows; j += 4) {
            for (int lane = 0; lane < 4; ++lane) {
                sums[lane] += m[j + lane];
                received[j + lane] += m[j + lane];
            }
        }
        for (; j < x_.n_rows; ++j) {
            sums[0] += m[j];
            received[j] += m[j];
        }
        const double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        received[i] += sum;
        part.total += sum;
    }

    void collect(std::int64_t i, double* products) const {
        for (Index e = x_.row_starts[i]; e < x_.row_starts[i + 1]; ++e) {
            const Index column = x_.row_columns[e], end = x_.column_starts[column + 1];
            if (!everywhere_ && x_.weights[column] == 0) continue;
            double sums[4] = {};
            Index f = after_[column];
            for (; f + 4 <= end; f += 4) {
                for (int lane = 0; lane < 4; ++lane) {
                    sums[lane] += m_[x_.column_rows[f + lane]] * x_.column_values[f + lane];
                }
            }
            for (; f < end; ++f) sums[0] += m_[x_.column_rows[f]] * x_.column_values[f];
            products[column] += x_.row_values[e] * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
        }
    }
};

}  // namespace

template <class Index, class Node>
bool align(const InstructionSet& set, const WeightedRows<Index>& x, const CentredGraph<Node>& graph, double scale,
           bool everywhere, int n_threads, const Interrupted& interrupted, double& total, double* received,
           double* products) {
    const std::int64_t fitting = std::clamp<std::int64_t>(ROOM / (x.n_rows + x.n_columns), 4, MOST_PARTS);
    std::vector<Part> parts(static_cast<std::size_t>(std::min(x.n_rows, fitting)));
    const bool finished = run_parallel(static_cast<std::int64_t>(parts.size()), n_threads, interrupted, [&] {
        return AlignmentWorker<Index, Node>(set, x, graph, scale, everywhere, parts);
    });
    if (!finished) return false;
    for (const Part& part : parts) {
        total += part.total;
        for (std::int64_t i = 0; i < x.n_rows; ++i) received[i] += part.received[i];
        for (std::int64_t t = 0; t < x.n_columns; ++t) products[t] += part.products[t];
    }
    return true;
}

#define VICINAL_ALIGN(Index, Node)                                                                                  \
    template bool align(const InstructionSet&, const WeightedRows<Index>&, const CentredGraph<Node>&, double, bool, \
                        int, const Interrupted&, double&, double*, double*);
VICINAL_ALIGN(std::int32_t, std::int32_t)
VICINAL_ALIGN(std::int32_t, std::int64_t)
VICINAL_ALIGN(std::int64_t, std::int32_t)
VICINAL_ALIGN(std::int64_t, std::int64_t)

}  // namespace vicinal
