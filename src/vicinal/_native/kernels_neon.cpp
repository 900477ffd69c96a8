#define VICINAL_ISA neon
#define VICINAL_BYTES 16
#define VICINAL_TILE_ROWS 12
#include "kernels_impl.hpp"
