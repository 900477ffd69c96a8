// A row's candidates, known by bounds of their scores, until it is settled by exact distances which k of them stay.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace vicinal {

// The k nearest so far, ascending by key and then by row; places without one have the key infinity.
struct NearestSoFar {
    double* keys;
    std::int64_t* rows;
    std::int64_t k;

    void clear() const {
        std::fill(keys, keys + k, std::numeric_limits<double>::infinity());
        std::fill(rows, rows + k, std::numeric_limits<std::int64_t>::max());
    }

    double last() const { return keys[k - 1]; }
    bool is_full() const { return rows[k - 1] != std::numeric_limits<std::int64_t>::max(); }

    void insert(double key, std::int64_t row) const {
        const auto before = [&](std::int64_t at) { return key < keys[at] || (key == keys[at] && row < rows[at]); };
        if (!before(k - 1)) return;
        std::int64_t low = 0, high = k - 1;
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            if (before(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        std::copy_backward(keys + low, keys + k - 1, keys + k);
        std::copy_backward(rows + low, rows + k - 1, rows + k);
        keys[low] = key;
        rows[low] = row;
    }
};

class Shortlist {
public:
    struct Candidate {
        double low, high;  // bounds of its score
        std::int64_t row;
    };

    double limit = std::numeric_limits<double>::infinity();  // of the scores that can still matter
    std::vector<Candidate> candidates;                       // by ascending rows

    bool is_full(std::int64_t k) const { return static_cast<std::int64_t>(candidates.size()) >= room(k); }
    bool is_crowded(std::int64_t k) const { return static_cast<std::int64_t>(candidates.size()) > room(k) / 2; }

    // Drops candidates that k others are surely nearer than.
    void prune(std::int64_t k, std::vector<double>& highs) {
        if (static_cast<std::int64_t>(candidates.size()) <= k) return;
        highs.clear();
        for (const Candidate& candidate : candidates) highs.push_back(candidate.high);
        std::nth_element(highs.begin(), highs.begin() + (k - 1), highs.end());
        limit = std::min(limit, highs[k - 1]);
        const auto surpassed = [this](const Candidate& candidate) { return candidate.low > limit; };
        candidates.erase(std::remove_if(candidates.begin(), candidates.end(), surpassed), candidates.end());
    }

private:
    static std::int64_t room(std::int64_t k) { return 4 * k + 32; }
};

}  // namespace vicinal
