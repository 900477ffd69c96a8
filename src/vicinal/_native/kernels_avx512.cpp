#define VICINAL_ISA avx512
#define VICINAL_BYTES 64
#define VICINAL_TILE_ROWS 12
#include "kernels_impl.hpp"
