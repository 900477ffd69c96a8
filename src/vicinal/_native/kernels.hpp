// The inner loops, one table of functions per instruction set and number type.
//
// Rows come in blocks of ROWS, stored feature-major: feature f of the block's rows is x[f * ROWS .. f * ROWS + ROWS).
// Anchors come in tiles of TILE, interleaved: feature f of a tile's anchors is tile[f * TILE .. f * TILE + TILE).
// The last tile is filled up: scores by products are infinite there, others those of the last anchor.
// Scores of a block are stored anchor-major: scores[anchor * ROWS + row]; the smallest score is the nearest anchor.
#pragma once
#include <cstddef>
#include <cstdint>

#include "linear_rows.hpp"

namespace vicinal {

constexpr int ROWS = 32;
constexpr int TILE = 12;
constexpr int STRIP = 16;        // columns that are read at a time
constexpr int FEW_FEATURES = 6;  // up to here differences are as cheap as products

enum class Metric { euclidean = 0, manhattan = 1, cosine = 2 };

// How a score becomes a distance; `offset` is a number per row.
enum class Form {
    expanded,   // squared Euclid by |x|^2/2 - x.a + |a|^2/2: score is the last two terms, offset the first
    squared,    // squared Euclid by differences
    plain,      // the distance itself
    projected,  // cosine: score is -x.a with a of unit length, offset is 1 / |x|
};

// One feature: anchors sorted by value, equal values merged into their lowest index.
template <class Real>
struct LineIndex {
    const Real* values;
    const std::int32_t* ids;
    int size;
};

// Two features: a grid over the anchors' bounding box; a cell lists every anchor that can be nearest to a point of it.
// Lists are filled up to whole vectors with points at infinity.
constexpr int LIST = 16;

template <class Real>
struct GridIndex {
    const Real* edges[2];  // cells + 1 numbers each, ascending
    int cells[2];
    const std::int32_t* starts;  // cells[0] * cells[1] + 1
    const std::int32_t* ids;     // ascending within a cell
    const Real* points[2];       // coordinates of ids, in the same order
    const Real* all[2];          // coordinates of all anchors, for rows outside the box
    int size;                    // of `all`, filled up
};

// A row of a block and a candidate whose score is within the row's limit.
template <class Real>
struct Candidate {
    Real score;
    std::int32_t row, candidate;
};

template <class Real>
struct Kernels {
    // ROWS x STRIP numbers, rows `stride` apart, to STRIP x ROWS; false: one of them is not finite
    bool (*transpose)(const Real* rows, std::ptrdiff_t stride, Real* out);

    // the nearest of r anchors, without storing scores; `next` is each row's second smallest score
    void (*nearest_by_dots)(const Real* x, int m, const Real* tiles, const Real* init, int r, Real* best, Real* next,
                            std::int32_t* index);
    void (*nearest_by_squares)(const Real* x, int m, const Real* tiles, int r, Real* best, std::int32_t* index);

    // At most FEW_FEATURES: the tile with the smallest score (init - x.a), and the smallest score of all others; then,
    // in that tile, the nearest anchor by squared differences, which replaces the tile in `index`.
    void (*nearest_tile)(const Real* x, int m, const Real* tiles, const Real* init, int n_tiles, Real* best, Real* next,
                         std::int32_t* index);
    void (*nearest_in_tile)(const Real* x, int m, const Real* tiles, Real* best, std::int32_t* index);

    // scores = init[anchor] - x.a, or the sum of squared or absolute differences
    void (*dots)(const Real* x, int m, const Real* tiles, const Real* init, int r, Real* scores);
    void (*squares)(const Real* x, int m, const Real* tiles, int r, Real* scores);
    void (*absolutes)(const Real* x, int m, const Real* tiles, int r, Real* scores);
    void (*squared_norms)(const Real* x, int m, Real* norms);

    // distances of one row (a column of x) to all anchors over the features that both have; infinite where there are
    // none
    void (*partial)(const Real* x, int m, const Real* tiles, int n_tiles, Metric metric, Real* scores);

    // the k smallest scores of each row, ascending, ties to the lower anchor: best[level * ROWS + row]
    void (*select)(const Real* scores, int r, int k, Real* best, std::int32_t* index);

    // rows (as bits) with a score in (best, limit] once the score is lowered by error_a[anchor] + size[row] *
    // error_b[anchor]
    std::uint32_t (*ambiguous)(const Real* scores, int r, const Real* best, const Real* limit, const Real* size,
                               const Real* error_a, const Real* error_b);

    // distances in one subspace whose directions are the tiles; own are the landmark's products with them. Directions
    // that fill up the last tile are zero.
    void (*distances_along)(const Real* x, const std::int32_t* features, int m, const Real* tiles, const Real* own,
                            int n_tiles, Metric metric, Real* distances);
    // the same from parts[j * ROWS + row], the q differences between own[j] and the rows' products
    void (*distances_of_parts)(const Real* parts, int q, Metric metric, const Real* own, Real* distances);

    // per row, the sum of the distances to all anchors
    void (*sum_distances)(const Real* scores, int r, Form form, const Real* offset, double* sums);

    // nearest anchor by an index; x0 and x1 are the block's values of the group's features; false: a score overflowed
    bool (*search_line)(const LineIndex<Real>& line, Metric metric, const Real* x0, Real* best, std::int32_t* index);
    bool (*search_grid)(const GridIndex<Real>& grid, const Real* x0, const Real* x1, Real* best, std::int32_t* index);

    // Candidates in tiles, over all m features, whose scores (init - x.a, or init plus absolute differences) are at
    // most the row's limit: how many there are. Those of a row are found by ascending candidates.
    int (*candidates_by_dots)(const Real* x, int m, const Real* tiles, const Real* init, int n_tiles,
                              const Real* limits, Candidate<Real>* found);
    int (*candidates_by_absolutes)(const Real* x, int m, const Real* tiles, const Real* init, int n_tiles,
                                   const Real* limits, Candidate<Real>* found);
    // places where init - sums is at most the limit: how many there are
    int (*differences_below)(const Real* init, const Real* sums, int count, Real limit, std::int32_t* found);

    // x times its features' factors, then by the Hadamard matrix of size n, a power of two, in place
    void (*hadamard)(Real* x, const Real* factors, int n);
    // cosine and sine of products[j * ROWS + row] * factor, each times scale: out[row * stride + 2 j] and its neighbour
    void (*cos_sin)(const Real* products, int count, const Real* factors, Real scale, Real* out, std::ptrdiff_t stride,
                    int n_rows);
};

// A hashed projection: the entry of a column goes to one place in each of n_blocks blocks of block_size places, with a
// sign. Place and sign are functions of seed, column and block.
constexpr std::uint32_t SMALL_BLOCK = 128;  // 16 bits make no place likelier than another by more than 1 in 256

struct HashedMap {
    std::uint64_t seed;
    std::int64_t n_blocks;
    std::uint32_t block_size;
    bool with_signs;
};

// Per column n_blocks numbers: twice the place, counted over all blocks, plus one where the sign is negative.
using HashColumns = void(const HashedMap& map, const std::uint64_t* columns, int n_columns, std::uint32_t* places);

// values become e^(scale (values - highest)); their sum is added to total, the sum of each times its exponent to
// moment.
using Exponentials = void(double* values, std::int64_t count, double scale, double highest, double* total,
                          double* moment);

// One step of negative sampling: every input row x_i has been seen with the first output row y_0, input_counts[i]
// times, and not with the other outputs, which were drawn output_counts[k] times. The rows move down
//     sum_i input_counts[i] (log(1 + e^(-x_i.y_0)) + sum_k output_counts[k] log(1 + e^(x_i.y_k))),
// all by the gradient of where they were. No row stands twice.
constexpr int MOST_INPUTS = 32;
constexpr int ROW_STEP = 32;  // rows have a multiple of so many numbers

struct SampledStep {
    float* const* inputs;
    const float* input_counts;
    int n_inputs;  // at most MOST_INPUTS
    float* const* outputs;
    const float* output_counts;  // the first one is 1
    int n_outputs;
    int width;
    float rate;
    float* room;  // of room_of numbers
};

inline std::size_t room_of(int n_outputs, int width) {
    return static_cast<std::size_t>(MOST_INPUTS) * width +
           static_cast<std::size_t>(n_outputs / 6 + 1) * 8 * (MOST_INPUTS + 1);
}

using TakeSampledStep = void(const SampledStep& step);

// A network of two rows whose units are 1 / (1 + 2^s) of the sum s that they receive. Weights are n_in x stride.
constexpr int PAIRS = 32;       // pairs of a row with others at a time
constexpr int PAIR_UNITS = 10;  // strides are a multiple of it; what fills them up is zero

struct PairLayer {
    int n_in, n_out, stride;
    const float *weights, *biases;
};

struct PairNetwork {
    const PairLayer* layers;  // those after the first one's units; the last has one unit
    int n_layers, widest;
};

// 1 - 2 times the last unit, of one row with PAIRS others, is added to out. What both say to the first layer comes as
// exponents of e^2 that are added, or as powers that are multiplied; others are unit after unit. room: 2 widest PAIRS
// numbers.
using PairOfRow = void(const PairNetwork& network, const float* row, const float* others, bool by_sums, float* room,
                       float* out);

struct InstructionSet {
    const char* name;
    bool (*available)();
    const Kernels<float>* f32;
    const Kernels<double>* f64;
    HashColumns* hash_columns;
    Exponentials* exponentials;
    TakeSampledStep* sampled_step;
    PairOfRow* pair_network;
    const LinearKernels* linear;
};

// Best first; the last one runs everywhere.
extern const InstructionSet* const instruction_sets[];
extern const int n_instruction_sets;

template <class Real>
inline const Kernels<Real>& kernels_of(const InstructionSet& set);
template <>
inline const Kernels<float>& kernels_of<float>(const InstructionSet& set) {
    return *set.f32;
}
template <>
inline const Kernels<double>& kernels_of<double>(const InstructionSet& set) {
    return *set.f64;
}

}  // namespace vicinal
