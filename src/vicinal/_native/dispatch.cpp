#include "kernels.hpp"

namespace vicinal {

#define DECLARE(isa)                   \
    namespace isa {                    \
    extern const Kernels<float> f32;   \
    extern const Kernels<double> f64;  \
    HashColumns hash_columns;          \
    Exponentials exponentials;         \
    TakeSampledStep sampled_step;      \
    PairOfRow pair_network;            \
    extern const LinearKernels linear; \
    }

DECLARE(baseline)
static const InstructionSet baseline_set = {"baseline",
                                            [] { return true; },
                                            &baseline::f32,
                                            &baseline::f64,
                                            baseline::hash_columns,
                                            baseline::exponentials,
                                            baseline::sampled_step,
                                            baseline::pair_network,
                                            &baseline::linear};

#if defined(__x86_64__)
DECLARE(avx2)
DECLARE(avx512)
static const InstructionSet avx2_set = {"avx2",
                                        [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); },
                                        &avx2::f32,
                                        &avx2::f64,
                                        avx2::hash_columns,
                                        avx2::exponentials,
                                        avx2::sampled_step,
                                        avx2::pair_network,
                                        &avx2::linear};
static const InstructionSet avx512_set = {"avx512",
                                          [] {
                                              return __builtin_cpu_supports("avx512f") &&
                                                     __builtin_cpu_supports("avx512dq") &&
                                                     __builtin_cpu_supports("avx512bw") &&
                                                     __builtin_cpu_supports("avx512vl") &&
                                                     __builtin_cpu_supports("fma");
                                          },
                                          &avx512::f32,
                                          &avx512::f64,
                                          avx512::hash_columns,
                                          avx512::exponentials,
                                          avx512::sampled_step,
                                          avx512::pair_network,
                                          &avx512::linear};
const InstructionSet* const instruction_sets[] = {&avx512_set, &avx2_set, &baseline_set};
const int n_instruction_sets = 3;
#elif defined(__aarch64__)
DECLARE(neon)
static const InstructionSet neon_set = {"neon",
                                        [] { return true; },
                                        &neon::f32,
                                        &neon::f64,
                                        neon::hash_columns,
                                        neon::exponentials,
                                        neon::sampled_step,
                                        neon::pair_network,
                                        &neon::linear};
const InstructionSet* const instruction_sets[] = {&neon_set, &baseline_set};
const int n_instruction_sets = 2;
#else
const InstructionSet* const instruction_sets[] = {&baseline_set};
const int n_instruction_sets = 1;
#endif

}  // namespace vicinal
