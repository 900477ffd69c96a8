#define VICINAL_ISA avx2
#define VICINAL_BYTES 32
#define VICINAL_TILE_ROWS 6
#include "kernels_impl.hpp"
