// Places and signs of hashed columns. Included by kernels_impl.hpp inside a namespace of each instruction set; no
// include guard.

namespace {

// A mixer of 64 bits: every bit of h changes every bit of the result with a chance of one half.
inline std::uint64_t mixed(std::uint64_t h) {
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
    return h ^ (h >> 31);
}

// Word i of a column: two rounds of 32-bit arithmetic, which every instruction set has in vectors, on both halves of
// the column's key.
inline std::uint32_t word(std::uint64_t key, std::uint32_t i) {
    std::uint32_t h = static_cast<std::uint32_t>(key) + i * 0x9E3779B9u;
    h = (h ^ (h >> 16)) * 0x7FEB352Du ^ static_cast<std::uint32_t>(key >> 32);
    h = (h ^ (h >> 15)) * 0x846CA68Bu;
    return h ^ (h >> 16);
}

}  // namespace

// A fraction of 32 bits, times 2 * block_size, tells place and sign. Small blocks make do with one of 16 bits: word i
// serves block i and, by its upper half, block i + (n_blocks + 1) / 2.
void hash_columns(const HashedMap& map, const std::uint64_t* columns, int n_columns, std::uint32_t* places) {
    constexpr std::uint64_t STEP =
        0x9E3779B97F4A7C15u;  // 2^64 over the golden ratio: consecutive numbers lie far apart
    const std::uint64_t start = mixed(map.seed + STEP);
    const std::uint32_t sides = 2 * map.block_size, kept = map.with_signs ? ~0u : ~1u;
    const std::uint32_t n_blocks = static_cast<std::uint32_t>(map.n_blocks), n_upper = n_blocks / 2;
    const std::uint32_t n_lower = n_blocks - n_upper;
    for (int j = 0; j < n_columns; ++j, places += n_blocks) {
        const std::uint64_t key = mixed(start + (columns[j] + 1) * STEP);
        if (map.block_size > SMALL_BLOCK) {
            for (std::uint32_t i = 0; i < n_blocks; ++i) {
                const std::uint64_t side = (static_cast<std::uint64_t>(word(key, i)) * sides) >> 32;
                places[i] = i * sides + (static_cast<std::uint32_t>(side) & kept);
            }
            continue;
        }
        std::uint32_t* upper = places + n_lower;
        for (std::uint32_t i = 0; i < n_upper; ++i) {
            const std::uint32_t h = word(key, i);
            places[i] = i * sides + (((h & 0xFFFF) * sides >> 16) & kept);
            upper[i] = (n_lower + i) * sides + (((h >> 16) * sides >> 16) & kept);
        }
        if (n_upper < n_lower)
            places[n_upper] = n_upper * sides + (((word(key, n_upper) & 0xFFFF) * sides >> 16) & kept);
    }
}
