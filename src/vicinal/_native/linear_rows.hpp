// Rows of a linear model, and the two inner loops over a row's entries.
//
// A row is dense, a row of a CSR matrix, or coded: exactly one entry in each of several groups of columns. Groups are
// in three runs by the width of their codes: bytes, two bytes, four bytes.
// Weights of several outputs are interleaved: column j has weights[j * lanes .. j * lanes + lanes), so that one place
// in memory serves all of them.
#pragma once
#include <cstdint>

namespace vicinal {

enum class RowKind { dense, csr, coded };

struct LinearRows {
    RowKind kind = RowKind::dense;
    std::int64_t n_rows = 0, n_columns = 0;
    bool doubles = false;                   // dense and CSR: values are double, not float
    const void* values = nullptr;           // coded: a byte per row and group, or none where all are 1
    const std::int32_t* columns = nullptr;  // CSR
    const std::int64_t* starts = nullptr;
    std::int32_t runs[3] = {0, 0, 0};  // coded: groups in each run
    const std::uint8_t* bytes = nullptr;
    const std::uint16_t* pairs = nullptr;
    const std::int32_t* quads = nullptr;
    const std::int32_t* offsets = nullptr;  // per group, its first column
    const float* scales = nullptr;          // per group, what a value of 1 stands for
};

constexpr int MOST_LANES = 8;

// Lanes are 1, 2, 4 or 8. Scores are by weights that are nearer to zero by `shrink`, and zero where they were that
// near.
template <class Weight>
struct RowLoops {
    void (*scores)(const LinearRows& rows, std::int64_t row, const Weight* weights, Weight shrink, int lanes,
                   Weight* out);
    void (*add)(const LinearRows& rows, std::int64_t row, const Weight* steps, int lanes, Weight* weights);
};

struct LinearKernels {
    RowLoops<float> f32;
    RowLoops<double> f64;
    double (*squared_length)(const LinearRows& rows, std::int64_t row);
};

}  // namespace vicinal
