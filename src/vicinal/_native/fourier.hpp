// Cosines and sines of random projections of every row. Knows arrays only.
#pragma once
#include <cstdint>

#include "kernels.hpp"
#include "parallel.hpp"
#include "source.hpp"

namespace vicinal {

// What the angles are made of: products with the frequencies (n_frequencies x n_columns); or products by Hadamard
// matrices H of size n, block after block of n frequencies: factors[3] H factors[2] H factors[1] H factors[0] x, where
// `factors` has 4 n numbers per block; or, with neither, the rows of x themselves.
template <class Real>
struct Frequencies {
    std::int64_t count;
    const Matrix* frequencies = nullptr;
    const Real* factors = nullptr;
    int n = 0;
};

// out is n_rows x 2 count: cosine and sine of each angle, side by side, times scale. Returns false when interrupted.
template <class Real>
bool fourier_features(const InstructionSet& set, const Matrix& x, const Frequencies<Real>& frequencies, Real scale,
                      int n_threads, const Interrupted& interrupted, Real* out);

}  // namespace vicinal
