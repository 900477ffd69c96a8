// Which threshold of which column, alone or with another one, names the rows that pull the most. Knows arrays only.
#pragma once
#include <cmath>
#include <optional>

#include "sorted_columns.hpp"

namespace vicinal {

// The rows above a threshold: of a bin above the base value those of this bin and of higher ones, of a bin below it
// all rows but those of this bin and of lower ones.
struct Stump {
    std::int64_t column = -1, bin = -1;
    double pull = 0;  // the sum over its rows
    double size() const { return size_of(pull); }
    // The absolute value without the digits that rounding makes: those of the same rows, summed otherwise, are equal.
    static double size_of(double pull) { return (std::abs(pull) + ROUNDING) - ROUNDING; }
    static constexpr double ROUNDING = 98304;  // 1.5 * 2^16: sums with it are multiples of 2^-36
};

struct Ranker {
    Stump first;
    std::optional<Stump> second;  // its pull is that of rows that both name
    const Stump& decisive() const { return second ? *second : first; }
};

class StumpSearch {
public:
    // parts[c] is the part, from 0, that the table's column c belongs to; without parts there is one.
    StumpSearch(SortedColumns columns, bool by_rows, const std::int32_t* parts, std::int64_t n_parts);

    // The stump, among the columns of a part, whose rows have the sum of largest absolute value, of pulls whose total
    // is zero. Where n_first is not 0, each of the n_first best stumps of different columns also looks for a partner.
    // Of equals the lowest column counts, then the lowest threshold. The answer is exact and the same on any number of
    // threads. Returns false when interrupted.
    bool best(const double* pulls, std::int64_t part, int n_first, int n_threads, const Interrupted& interrupted,
              Ranker& out);

    const SortedColumns& columns() const { return columns_; }
    double threshold(const Stump& stump) const;
    void mark(const Stump& stump, std::uint8_t* out) const;
    std::int64_t n_evaluated() const { return n_evaluated_; }  // columns, in all searches so far

private:
    friend class BlockSearch;
    friend class PartnerSearch;
    SortedColumns columns_;
    std::vector<std::int32_t> order_;         // columns, part by part
    std::vector<std::int64_t> part_starts_;   // in order_; one more than there are parts
    std::vector<std::int64_t> block_starts_;  // in order_, of blocks within a part; one more than there are blocks
    std::vector<std::int64_t> part_blocks_;   // a part's first block; one more than there are parts
    // The best |pull| of a column when it was last looked at, less the drift until then: in total, and of the row that
    // drifted most, times the column's entries. Of a block of columns, the largest.
    std::vector<double> by_total_, by_largest_;
    std::vector<double> block_by_total_, block_by_largest_, block_count_;
    std::vector<double> pulls_;  // those of the last search
    double total_drift_ = 0, largest_drift_ = 0, margin_ = 0;
    std::int64_t n_searches_ = 0;
    std::atomic<std::int64_t> n_evaluated_{0};
    std::vector<std::int64_t> row_starts_;  // a row's bins, those of columns that reach the most rows first
    std::vector<std::int32_t> row_bins_;

    void order_columns(const std::int32_t* parts, std::int64_t n_parts);
    void index_rows();
    void drift(const double* pulls);
    double bound(double by_total, double by_largest, double count) const;
    double block_bound(std::int64_t block) const;
    bool leaders(std::int64_t part, int count, int n_threads, const Interrupted& interrupted, std::vector<Stump>& out);
};

}  // namespace vicinal
