#define VICINAL_ISA baseline
#define VICINAL_BYTES 16
#define VICINAL_TILE_ROWS 6
#include "kernels_impl.hpp"
