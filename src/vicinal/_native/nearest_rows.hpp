// Each row's k nearest rows of another matrix, or of its own: exact, the lower row first where keys are equal.
// Knows arrays only.
//
// Rough scores, with bounds of their errors, leave few candidates; `PairDistances` settles those. So neither the number
// type nor the order of the rough arithmetic (tiles, panels, threads, an index by columns) can change the result.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "pair_distances.hpp"
#include "parallel.hpp"
#include "shortlist.hpp"

namespace vicinal {

struct NearestProblem {
    Matrix x, y;  // both dense or both CSR
    Nearness metric = Nearness::euclidean;
    std::int64_t k = 1;
    const std::int64_t* own = nullptr;         // per row of x the row of y that is left out, or -1
    const double* center = nullptr;            // moves rough scores, after scaling; none for CSR and angular metrics
    double scale = 1;                          // a power of two that makes distances about 1
    std::int64_t panel_rows = 0;               // of y that are prepared at a time; 0: as many as make sense
    std::vector<RowScale> x_scales, y_scales;  // of angular metrics

    RowScale x_scale(std::int64_t i) const { return x_scales.empty() ? RowScale{scale, 1} : x_scales[i]; }
    RowScale y_scale(std::int64_t j) const { return y_scales.empty() ? RowScale{scale, 1} : y_scales[j]; }
};

// What rough scores of a metric mean. A row's size is its length, or the sum of its absolute entries.
class RoughScores {
public:
    RoughScores(Nearness metric, double scale) : metric_(metric), scale_(scale) {}

    // The part of a score that depends on the candidate alone.
    double init(double size) const { return metric_ == Nearness::euclidean ? size * size / 2 : 0; }

    // The score at which the key is reached by a row of that size.
    double limit(double key, double size) const {
        switch (metric_) {
            case Nearness::euclidean: {
                const double scaled = key * scale_;
                return scaled * scaled / 2 - size * size / 2 + SLACK * (scaled * scaled + size * size);
            }
            case Nearness::manhattan:
                return key * scale_ * (1 + SLACK);
            case Nearness::cosine:
                return key - 1 + SLACK;
            case Nearness::inner:
                return key + SLACK * std::abs(key);
        }
        return key;
    }

    // How far the scores of a row and of candidates up to a size can be off after `terms` operations, or differ without
    // their keys being told apart.
    double error(double rounding, double size, double most) const {
        switch (metric_) {
            case Nearness::euclidean:
                return rounding * (size + most) * (size + most);
            case Nearness::manhattan:
                return rounding * (size + most);
            case Nearness::cosine:
                return rounding;
            case Nearness::inner:
                return rounding * size * most;
        }
        return rounding;
    }

    template <class Real>
    static double rounding(std::int64_t terms) {
        return static_cast<double>(terms + 16) * std::numeric_limits<Real>::epsilon() + 0x1p-43;
    }

    // What is lost where numbers vanish.
    template <class Real>
    static double vanishing(std::int64_t terms) {
        return static_cast<double>(terms + 1) * (sizeof(Real) == 4 ? 0x1p-120 : 0x1p-1000);
    }

    // Upwards.
    template <class Real>
    static Real limit_as(double limit) {
        return static_cast<Real>(limit + std::abs(limit) * std::numeric_limits<Real>::epsilon());
    }

    Nearness metric() const { return metric_; }

private:
    static constexpr double SLACK = 1e-15;
    const Nearness metric_;
    const double scale_;
};

// One thread's settling of candidates.
class Settler {
public:
    Settler(const NearestProblem& problem, double* keys, std::int64_t* rows)
        : problem_(problem), scores_(problem.metric, problem.scale),
          pairs_(problem.x, problem.y, problem.metric, scales(problem.x_scales), scales(problem.y_scales)), keys_(keys),
          rows_(rows) {}

    const RoughScores& scores() const { return scores_; }

    NearestSoFar found(std::int64_t i) const { return {keys_ + i * problem_.k, rows_ + i * problem_.k, problem_.k}; }

    void start(Shortlist& list, std::int64_t i, double size) const {
        list.candidates.clear();
        list.limit = limit(i, size);
    }

    void add(Shortlist& list, std::int64_t i, double size, double score, double error, std::int64_t j) {
        if (score - error > list.limit || (problem_.own && problem_.own[i] == j)) return;
        list.candidates.push_back({score - error, score + error, j});
        if (!list.is_full(problem_.k)) return;
        list.prune(problem_.k, highs_);
        if (list.is_crowded(problem_.k)) settle(list, i, size);
    }

    void settle(Shortlist& list, std::int64_t i, double size) {
        list.prune(problem_.k, highs_);
        if (list.candidates.empty()) return;
        pairs_.read_query(i);
        for (const Shortlist::Candidate& candidate : list.candidates) {
            if (candidate.low > list.limit) continue;
            found(i).insert(pairs_(candidate.row), candidate.row);
            list.limit = std::min(list.limit, limit(i, size));
        }
        list.candidates.clear();
    }

private:
    const NearestProblem& problem_;
    const RoughScores scores_;
    PairDistances pairs_;
    double* const keys_;
    std::int64_t* const rows_;
    std::vector<double> highs_;

    static const RowScale* scales(const std::vector<RowScale>& scales) {
        return scales.empty() ? nullptr : scales.data();
    }

    double limit(std::int64_t i, double size) const {
        const NearestSoFar so_far = found(i);
        if (!so_far.is_full()) return std::numeric_limits<double>::infinity();
        // Candidates come by ascending rows: none to come beats k equal rows.
        if (so_far.last() == 0 && problem_.metric != Nearness::inner) return -std::numeric_limits<double>::infinity();
        return scores_.limit(so_far.last(), size);
    }
};

// By tiles of dense rows; CSR rows are written out, a panel at a time.
template <class Real>
bool nearest_by_tiles(const InstructionSet& set, const NearestProblem& problem, int n_threads,
                      const Interrupted& interrupted, double* keys, std::int64_t* rows);

// By an index of the columns of CSR rows.
bool nearest_by_columns(const InstructionSet& set, const NearestProblem& problem, int n_threads,
                        const Interrupted& interrupted, double* keys, std::int64_t* rows);

// The problem's scales are found here. Keys become distances, or inner products. Returns false when interrupted.
bool nearest_rows(const InstructionSet& set, NearestProblem& problem, int n_threads, const Interrupted& interrupted,
                  double* distances, std::int64_t* rows);

}  // namespace vicinal
