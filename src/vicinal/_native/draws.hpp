// Random draws that are functions of a seed, a stream's number and a counter: the same in any thread.
#pragma once
#include <cstdint>
#include <vector>

namespace vicinal {

class Stream {
public:
    Stream(std::uint64_t seed, std::uint64_t number) : state_(mixed(mixed(seed + STEP) + (number + 1) * STEP)) {}

    std::uint64_t word() { return mixed(state_ += STEP); }

    // A whole number below `limit`, and 32 bits that say nothing of it.
    std::uint32_t below(std::uint32_t limit, std::uint32_t& rest) {
        __extension__ typedef unsigned __int128 Wide;
        const Wide product = static_cast<Wide>(word()) * limit;
        rest = static_cast<std::uint32_t>(static_cast<std::uint64_t>(product) >> 32);
        return static_cast<std::uint32_t>(product >> 64);
    }
    std::uint32_t below(std::uint32_t limit) {
        std::uint32_t rest;
        return below(limit, rest);
    }

private:
    static constexpr std::uint64_t STEP = 0x9E3779B97F4A7C15u;  // 2^64 over the golden ratio

    static std::uint64_t mixed(std::uint64_t h) {
        h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
        h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
        return h ^ (h >> 31);
    }

    std::uint64_t state_;
};

// Walker's alias method: a place drawn uniformly is kept with the chance threshold / 2^32 and is `other` otherwise.
struct Alias {
    std::uint32_t threshold;
    std::uint32_t other;
};

inline std::uint32_t draw(Stream& stream, const Alias* table, std::uint32_t size) {
    std::uint32_t rest;
    const std::uint32_t place = stream.below(size, rest);
    return rest < table[place].threshold ? place : table[place].other;
}

// The tables of any number of distributions, one after the other; keeps its working memory. Places of weight zero are
// never drawn, unless all weights are zero.
class AliasMaker {
public:
    template <class Real>
    void make(const Real* weights, std::uint32_t size, Alias* table) {
        double total = 0;
        for (std::uint32_t i = 0; i < size; ++i) total += static_cast<double>(weights[i]);
        const double scale = total > 0 ? size / total : 0;
        shares_.resize(size);
        poor_.clear();
        rich_.clear();
        for (std::uint32_t i = 0; i < size; ++i) {
            shares_[i] = total > 0 ? static_cast<double>(weights[i]) * scale : 1.0;
            (shares_[i] < 1 ? poor_ : rich_).push_back(i);
        }
        while (!poor_.empty() && !rich_.empty()) {
            const std::uint32_t place = poor_.back(), giver = rich_.back();
            poor_.pop_back();
            table[place] = {static_cast<std::uint32_t>(shares_[place] * 0x1p32), giver};
            shares_[giver] -= 1 - shares_[place];
            if (shares_[giver] < 1) {
                rich_.pop_back();
                poor_.push_back(giver);
            }
        }
        for (const std::uint32_t place : rich_) table[place] = {~0u, place};
        for (const std::uint32_t place : poor_) table[place] = {~0u, place};  // short of 1 by rounding alone
    }

private:
    std::vector<double> shares_;
    std::vector<std::uint32_t> poor_, rich_;
};

}  // namespace vicinal
