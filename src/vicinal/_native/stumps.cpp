#include "stumps.hpp"

#include <limits>

namespace vicinal {

namespace {

constexpr std::int64_t BLOCK = 64;  // columns whose bounds are looked at together
constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double EPSILON = std::numeric_limits<double>::epsilon();
constexpr double RESOLUTION = 2 * Stump::ROUNDING * EPSILON;  // of sizes, twice

double sum_over(const double* pulls, const std::int32_t* row, const std::int32_t* last) {
    double sums[4] = {};
    for (; last - row >= 4; row += 4) {
        for (int i = 0; i < 4; ++i) sums[i] += pulls[row[i]];
    }
    for (int i = 0; row != last; ++row, ++i) sums[i] += pulls[*row];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// The best stump of a column, where sum(bin) is the pull of a bin and total that of all rows.
template <class Sum>
Stump best_of_column(const SortedColumns& columns, std::int64_t c, double total, Sum sum) {
    Stump best{c, -1, 0};
    double pull = total;
    for (std::int64_t bin = columns.first_bin[c]; bin < columns.above_base[c]; ++bin) {
        pull -= sum(bin);
        if (best.bin < 0 || Stump::size_of(pull) > best.size()) best = {c, bin, pull};
    }
    Stump above{c, -1, 0};
    pull = 0;
    for (std::int64_t bin = columns.first_bin[c + 1]; bin-- > columns.above_base[c];) {
        pull += sum(bin);
        if (Stump::size_of(pull) >= above.size()) above = {c, bin, pull};
    }
    return best.bin < 0 || above.size() > best.size() ? above : best;
}

// The best stumps of different columns so far; threads may offer them in any order.
class Leaders {
public:
    Leaders(const SortedColumns& columns, std::size_t count) : columns_(columns), count_(count) {}

    double least() const { return least_; }  // what a stump has to reach to be among them
    std::vector<Stump> all() const { return best_; }

    void offer(const Stump& stump) {
        if (stump.size() < least_) return;
        std::lock_guard lock(mutex_);
        const auto place = std::find_if(best_.begin(), best_.end(), [&](const Stump& other) {
            const double gain = stump.size() - other.size();
            return gain > 0 || (gain == 0 && columns_.names[stump.column] < columns_.names[other.column]);
        });
        best_.insert(place, stump);
        if (best_.size() > count_) best_.pop_back();
        if (best_.size() == count_) least_ = best_.back().size();
    }

private:
    const SortedColumns& columns_;
    const std::size_t count_;
    std::vector<Stump> best_;
    std::atomic<double> least_{-1};
    std::mutex mutex_;
};

}  // namespace

// Looks at the columns of a block whose bounds reach the leaders, and renews the bounds.
class BlockSearch {
public:
    BlockSearch(StumpSearch& search, Leaders& leaders) : search_(search), leaders_(leaders) {}

    void operator()(std::int64_t block) {
        if (search_.block_bound(block) < leaders_.least()) return;
        const SortedColumns& columns = search_.columns_;
        const double* pulls = search_.pulls_.data();
        const auto sum = [&](std::int64_t bin) {
            const std::int32_t* rows = columns.rows.data();
            return sum_over(pulls, rows + columns.starts[bin], rows + columns.starts[bin + 1]);
        };
        double by_total = -INFINITE, by_largest = -INFINITE;
        std::int64_t n_evaluated = 0;
        for (std::int64_t place = search_.block_starts_[block]; place < search_.block_starts_[block + 1]; ++place) {
            const std::int64_t c = search_.order_[place];
            const auto count = static_cast<double>(columns.count(c));
            if (search_.bound(search_.by_total_[c], search_.by_largest_[c], count) >= leaders_.least()) {
                const Stump best = best_of_column(columns, c, 0.0, sum);
                leaders_.offer(best);
                search_.by_total_[c] = std::abs(best.pull) - search_.total_drift_;
                search_.by_largest_[c] = std::abs(best.pull) - count * search_.largest_drift_;
                ++n_evaluated;
            }
            by_total = std::max(by_total, search_.by_total_[c]);
            by_largest = std::max(by_largest, search_.by_largest_[c]);
        }
        search_.block_by_total_[block] = by_total;
        search_.block_by_largest_[block] = by_largest;
        search_.n_evaluated_ += n_evaluated;
    }

private:
    StumpSearch& search_;
    Leaders& leaders_;
};

// Looks for the best partner of a stump, among a part's columns before a last one.
class PartnerSearch {
public:
    PartnerSearch(const StumpSearch& search, const std::vector<Stump>& firsts, std::int64_t part,
                  std::int64_t last_column, std::vector<Ranker>& out)
        : search_(search), firsts_(firsts), part_(part), last_column_(last_column), out_(out),
          sums_(static_cast<std::size_t>(search.columns_.first_bin[last_column])),
          marks_(static_cast<std::size_t>(search.columns_.n_rows)) {}

    void operator()(std::int64_t item, const std::atomic<bool>& stop) {
        const Stump& first = firsts_[item];
        const SortedColumns& columns = search_.columns_;
        const auto last_bin = static_cast<std::int32_t>(columns.first_bin[last_column_]);
        std::fill(sums_.begin(), sums_.end(), 0.0);
        search_.mark(first, marks_.data());
        double total = 0;
        for (std::int64_t row = 0; row < columns.n_rows && !stop; ++row) {
            if (!marks_[row]) continue;
            const double pull = search_.pulls_[row];
            total += pull;
            for (std::int64_t e = search_.row_starts_[row]; e < search_.row_starts_[row + 1]; ++e) {
                if (search_.row_bins_[e] >= last_bin) break;
                sums_[search_.row_bins_[e]] += pull;
            }
        }
        Ranker& ranker = out_[item] = {first, std::nullopt};
        const auto sum = [&](std::int64_t bin) { return sums_[bin]; };
        for (std::int64_t place = search_.part_starts_[part_]; place < search_.part_starts_[part_ + 1]; ++place) {
            const std::int64_t c = search_.order_[place];
            if (c >= last_column_) break;
            const Stump second = best_of_column(columns, c, total, sum);
            const double gain = second.size() - ranker.decisive().size();
            const bool is_lower = ranker.second && columns.names[c] < columns.names[ranker.second->column];
            if (c != first.column && (gain > 0 || (gain == 0 && is_lower))) ranker.second = second;
        }
    }

private:
    const StumpSearch& search_;
    const std::vector<Stump>& firsts_;
    const std::int64_t part_, last_column_;
    std::vector<Ranker>& out_;
    std::vector<double> sums_;  // of bins
    std::vector<std::uint8_t> marks_;
};

StumpSearch::StumpSearch(SortedColumns columns, bool by_rows, const std::int32_t* parts, std::int64_t n_parts)
    : columns_(std::move(columns)) {
    order_columns(parts, n_parts);
    const std::int64_t n = columns_.n_columns(), n_blocks = part_blocks_.back();
    for (auto* bounds : {&by_total_, &by_largest_}) bounds->assign(static_cast<std::size_t>(n), INFINITE);
    for (auto* bounds : {&block_by_total_, &block_by_largest_}) {
        bounds->assign(static_cast<std::size_t>(n_blocks), INFINITE);
    }
    block_count_.resize(static_cast<std::size_t>(n_blocks));
    for (std::int64_t block = 0; block < n_blocks; ++block) {
        for (std::int64_t place = block_starts_[block]; place < block_starts_[block + 1]; ++place) {
            const auto count = static_cast<double>(columns_.count(order_[place]));
            block_count_[block] = std::max(block_count_[block], count);
        }
    }
    pulls_.resize(static_cast<std::size_t>(columns_.n_rows));
    if (by_rows) index_rows();
}

// Within a part, columns stay in their order: those that reach the most rows first.
void StumpSearch::order_columns(const std::int32_t* parts, std::int64_t n_parts) {
    const std::int64_t n = columns_.n_columns();
    const auto part_of = [&](std::int64_t c) { return parts == nullptr ? 0 : parts[columns_.names[c]]; };
    part_starts_.assign(static_cast<std::size_t>(n_parts) + 1, 0);
    for (std::int64_t c = 0; c < n; ++c) ++part_starts_[part_of(c) + 1];
    for (std::int64_t part = 0; part < n_parts; ++part) part_starts_[part + 1] += part_starts_[part];
    order_.resize(static_cast<std::size_t>(n));
    std::vector<std::int64_t> next(part_starts_.begin(), part_starts_.end() - 1);
    for (std::int64_t c = 0; c < n; ++c) order_[next[part_of(c)]++] = static_cast<std::int32_t>(c);
    part_blocks_ = {0};
    for (std::int64_t part = 0; part < n_parts; ++part) {
        for (std::int64_t at = part_starts_[part]; at < part_starts_[part + 1]; at += BLOCK)
            block_starts_.push_back(at);
        part_blocks_.push_back(static_cast<std::int64_t>(block_starts_.size()));
    }
    block_starts_.push_back(n);
}

void StumpSearch::index_rows() {
    row_starts_.assign(static_cast<std::size_t>(columns_.n_rows) + 1, 0);
    for (const std::int32_t row : columns_.rows) ++row_starts_[row + 1];
    for (std::int64_t row = 0; row < columns_.n_rows; ++row) row_starts_[row + 1] += row_starts_[row];
    row_bins_.resize(columns_.rows.size());
    std::vector<std::int64_t> next(row_starts_.begin(), row_starts_.end() - 1);
    for (std::int64_t bin = 0; bin < columns_.n_bins(); ++bin) {
        for (std::int64_t e = columns_.starts[bin]; e < columns_.starts[bin + 1]; ++e) {
            row_bins_[next[columns_.rows[e]]++] = static_cast<std::int32_t>(bin);
        }
    }
}

// No sum over rows changes by more than half of what all pulls change by in total, which is zero with its signs, nor
// by more than the number of rows times the largest change.
void StumpSearch::drift(const double* pulls) {
    double total = 0, largest = 0;
    for (std::int64_t row = 0; row < columns_.n_rows; ++row) {
        const double change = std::abs(pulls[row] - pulls_[row]);
        total += change;
        largest = std::max(largest, change);
        pulls_[row] = pulls[row];
    }
    total_drift_ += total / 2;
    largest_drift_ += largest;
    ++n_searches_;
    const auto n_rows = static_cast<double>(columns_.n_rows), n_searches = static_cast<double>(n_searches_);
    margin_ =
        RESOLUTION + EPSILON * (n_rows * (16 + total_drift_ + n_searches * largest_drift_) + n_searches * total_drift_);
}

double StumpSearch::bound(double by_total, double by_largest, double count) const {
    return std::min(by_total + total_drift_, by_largest + count * largest_drift_) + margin_;
}

double StumpSearch::block_bound(std::int64_t block) const {
    return bound(block_by_total_[block], block_by_largest_[block], block_count_[block]);
}

bool StumpSearch::leaders(std::int64_t part, int count, int n_threads, const Interrupted& interrupted,
                          std::vector<Stump>& out) {
    Leaders found(columns_, static_cast<std::size_t>(count));
    std::vector<std::pair<double, std::int64_t>> waiting;
    for (std::int64_t block = part_blocks_[part]; block < part_blocks_[part + 1]; ++block) {
        waiting.push_back({-block_bound(block), block});
    }
    const auto first = std::min_element(waiting.begin(), waiting.end());
    if (first != waiting.end()) {
        BlockSearch(*this, found)(first->second);
        waiting.erase(first);
    }
    const double least = found.least();
    waiting.erase(
        std::remove_if(waiting.begin(), waiting.end(), [&](const auto& block) { return -block.first < least; }),
        waiting.end());
    std::sort(waiting.begin(), waiting.end());
    const auto make = [&] {
        return [&, search = BlockSearch(*this, found)](std::int64_t item, const std::atomic<bool>&) mutable {
            search(waiting[item].second);
        };
    };
    if (!run_parallel(static_cast<std::int64_t>(waiting.size()), n_threads, interrupted, make)) return false;
    out = found.all();
    return true;
}

bool StumpSearch::best(const double* pulls, std::int64_t part, int n_first, int n_threads,
                       const Interrupted& interrupted, Ranker& out) {
    drift(pulls);
    std::vector<Stump> firsts;
    if (!leaders(part, std::max(1, n_first), n_threads, interrupted, firsts)) return false;
    out = firsts.empty() ? Ranker{} : Ranker{firsts[0], std::nullopt};
    if (firsts.empty() || n_first == 0) return true;
    double largest = 0;
    for (const double pull : pulls_) largest = std::max(largest, std::abs(pull));
    std::int64_t last_column = 0;  // those behind it reach too few rows to gain by
    while (last_column < columns_.n_columns() &&
           static_cast<double>(columns_.reach(last_column)) * largest + margin_ >= firsts[0].size()) {
        ++last_column;
    }
    std::vector<Ranker> rankers(firsts.size());
    const auto make = [&] { return PartnerSearch(*this, firsts, part, last_column, rankers); };
    if (!run_parallel(static_cast<std::int64_t>(firsts.size()), n_threads, interrupted, make)) return false;
    for (const Ranker& ranker : rankers) {
        if (ranker.decisive().size() > out.decisive().size()) out = ranker;
    }
    return true;
}

double StumpSearch::threshold(const Stump& stump) const {
    const bool below = stump.bin < columns_.above_base[stump.column];
    const bool next_to_base = stump.bin == columns_.above_base[stump.column] - (below ? 1 : 0);
    const double own = columns_.values[stump.bin];
    const double other = next_to_base ? columns_.base[stump.column] : columns_.values[stump.bin + (below ? 1 : -1)];
    const double low = std::min(own, other), high = std::max(own, other), middle = low / 2 + high / 2;
    return low <= middle && middle < high ? middle : low;
}

void StumpSearch::mark(const Stump& stump, std::uint8_t* out) const {
    const bool below = stump.bin < columns_.above_base[stump.column];
    const std::int64_t first = below ? columns_.first_bin[stump.column] : stump.bin;
    const std::int64_t last = below ? stump.bin + 1 : columns_.first_bin[stump.column + 1];
    std::fill(out, out + columns_.n_rows, static_cast<std::uint8_t>(below));
    for (std::int64_t e = columns_.starts[first]; e < columns_.starts[last]; ++e) out[columns_.rows[e]] = !below;
}

}  // namespace vicinal
