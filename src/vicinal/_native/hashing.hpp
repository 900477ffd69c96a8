// Hashed projections: rows times a sparse random matrix that exists only as a function. Knows arrays only.
#pragma once
#include "kernels.hpp"
#include "parallel.hpp"
#include "source.hpp"

namespace vicinal {

// Each entry of a row goes to one place in each block, with its sign, times 1 / sqrt(n_blocks); out is n_rows x
// (n_blocks * block_size). A CSR row's indices may be any numbers of 64 bits, in any order and repeated. Returns false
// when interrupted.
template <class Real>
bool hashed_rows(const InstructionSet& set, const Matrix& x, const HashedMap& map, int n_threads,
                 const Interrupted& interrupted, Real* out);

}  // namespace vicinal
