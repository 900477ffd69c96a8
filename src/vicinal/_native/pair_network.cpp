#include "pair_network.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>

namespace vicinal {
namespace {

constexpr int CHUNK = 64;              // rows of one item
constexpr float LARGEST_SAID = 40.0f;  // e^(2 * 40) is within single precision, and so is its inverse

// With f(x) = 1 / (1 + e^(2 x)), tanh(x) is 1 - 2 f(x): the weights that take f(x) in place of tanh(x), and give sums
// in powers of two.
class FoldedLayers {
public:
    explicit FoldedLayers(const std::vector<DenseLayer>& given) : numbers_(given.size()) {
        for (std::size_t l = 0; l < given.size(); ++l) {
            const DenseLayer& layer = given[l];
            const int stride = (layer.n_out + PAIR_UNITS - 1) / PAIR_UNITS * PAIR_UNITS;
            std::vector<float>& numbers = numbers_[l];
            numbers.assign(static_cast<std::size_t>(layer.n_in + 1) * stride, 0.0f);
            const double scale = 2 / std::log(2.0);
            for (int o = 0; o < layer.n_out; ++o) {
                double bias = layer.biases[o];
                for (int u = 0; u < layer.n_in; ++u) {
                    const double weight = layer.weights[static_cast<std::size_t>(u) * layer.n_out + o];
                    bias += weight;
                    numbers[static_cast<std::size_t>(u + 1) * stride + o] = static_cast<float>(-2 * scale * weight);
                }
                numbers[o] = static_cast<float>(scale * bias);
            }
            layers_.push_back({layer.n_in, layer.n_out, stride, numbers.data() + stride, numbers.data()});
            widest_ = std::max({widest_, layer.n_in, layer.n_out});
        }
    }

    PairNetwork network() const { return {layers_.data(), static_cast<int>(layers_.size()), widest_}; }

private:
    std::vector<std::vector<float>> numbers_;
    std::vector<PairLayer> layers_;
    int widest_ = 1;
};

// Whether a row says so much that its exponential is out of range; NaN counts.
bool is_large(const PairRows& rows, std::int64_t i, int n_units) {
    bool large = false;
    for (const float* said : {rows.left + i * n_units, rows.right + i * n_units}) {
        for (int u = 0; u < n_units; ++u) large |= !(std::fabs(said[u]) <= LARGEST_SAID);
    }
    return large;
}

float said_as(float said, bool by_sums) { return by_sums ? said : std::exp(2.0f * said); }

// Columns in tiles of PAIRS, unit after unit; the last tile is filled up with columns that say nothing.
class SaidInTiles {
public:
    SaidInTiles(const float* said, std::int64_t n, int n_units, bool by_sums)
        : n_units_(n_units), numbers_(static_cast<std::size_t>((n + PAIRS - 1) / PAIRS) * PAIRS * n_units) {
        for (std::int64_t j = 0; j < n; ++j) {
            float* tile = numbers_.data() + j / PAIRS * PAIRS * n_units;
            for (int u = 0; u < n_units; ++u) tile[u * PAIRS + j % PAIRS] = said_as(said[j * n_units + u], by_sums);
        }
    }
    const float* tile(std::int64_t t) const { return numbers_.data() + t * PAIRS * n_units_; }

private:
    int n_units_;
    std::vector<float> numbers_;
};

// Both sides of the columns, by products of exponentials or by sums.
struct Columns {
    Columns(const PairRows& columns, int n_units, bool by_sums)
        : left(columns.left, columns.n, n_units, by_sums), right(columns.right, columns.n, n_units, by_sums) {}
    SaidInTiles left, right;
};

class PairWorker {
public:
    PairWorker(PairOfRow* kernel, const PairRows& rows, std::int64_t n_columns, const PairNetwork& network,
               const Columns* by_products, const Columns& by_sums, float* out)
        : kernel_(kernel), rows_(rows), n_columns_(n_columns), network_(network), by_products_(by_products),
          by_sums_(by_sums), out_(out), n_units_(network.layers[0].n_in), said_(2 * CHUNK * n_units_),
          room_(2 * static_cast<std::size_t>(network.widest) * PAIRS) {}

    void operator()(std::int64_t chunk, const std::atomic<bool>& stop) {
        const std::int64_t first = chunk * CHUNK, count = std::min<std::int64_t>(CHUNK, rows_.n - first);
        bool sums[CHUNK];
        for (std::int64_t i = 0; i < count; ++i) {
            sums[i] = !by_products_ || is_large(rows_, first + i, n_units_);
            for (int u = 0; u < n_units_; ++u) {
                const std::int64_t from = (first + i) * n_units_ + u, to = 2 * i * n_units_ + u;
                said_[to] = said_as(rows_.left[from], sums[i]);
                said_[to + n_units_] = said_as(rows_.right[from], sums[i]);
            }
        }
        for (std::int64_t t = 0; t * PAIRS < n_columns_ && !stop; ++t) {
            const std::int64_t width = std::min<std::int64_t>(PAIRS, n_columns_ - t * PAIRS);
            for (std::int64_t i = 0; i < count; ++i) {
                const Columns& columns = sums[i] ? by_sums_ : *by_products_;
                const float* own = said_.data() + 2 * i * n_units_;
                float pairs[PAIRS] = {};
                kernel_(network_, own, columns.right.tile(t), sums[i], room_.data(), pairs);
                kernel_(network_, own + n_units_, columns.left.tile(t), sums[i], room_.data(), pairs);
                float* to = out_ + (first + i) * n_columns_ + t * PAIRS;
                for (std::int64_t j = 0; j < width; ++j) to[j] = 0.5f * pairs[j];
            }
        }
    }

private:
    PairOfRow* const kernel_;
    const PairRows& rows_;
    const std::int64_t n_columns_;
    const PairNetwork network_;
    const Columns* const by_products_;
    const Columns& by_sums_;
    float* const out_;
    const int n_units_;
    std::vector<float> said_, room_;
};

}  // namespace

bool pair_kernel(const InstructionSet& set, const PairRows& rows, const PairRows& columns,
                 const std::vector<DenseLayer>& layers, int n_threads, const Interrupted& interrupted, float* out) {
    const FoldedLayers folded(layers);
    const int n_units = layers[0].n_in;
    bool any_large = false, large_columns = false;
    for (std::int64_t j = 0; j < columns.n; ++j) large_columns |= is_large(columns, j, n_units);
    for (std::int64_t i = 0; i < rows.n; ++i) any_large |= is_large(rows, i, n_units);
    const PairRows none{0, nullptr, nullptr};
    const Columns by_products(large_columns ? none : columns, n_units, false);
    const Columns by_sums(any_large || large_columns ? columns : none, n_units, true);
    return run_parallel((rows.n + CHUNK - 1) / CHUNK, n_threads, interrupted, [&] {
        return PairWorker(set.pair_network, rows, columns.n, folded.network(), large_columns ? nullptr : &by_products,
                          by_sums, out);
    });
}

}  // namespace vicinal
