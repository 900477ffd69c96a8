#include "sorted_columns.hpp"

#include <numeric>

namespace vicinal {
namespace {

constexpr std::int64_t BLOCK = 256;  // columns that a thread takes at a time

struct Entry {
    double value;
    std::int32_t row;
};

struct Column {
    double base = 0;
    std::int64_t n_bins = 0, n_below = 0, n_entries = 0;
    std::int64_t reach(std::int64_t n_rows) const { return n_below > 0 ? n_rows : n_entries; }
};

// Calls visit(first, last) with the entries of each bin, from sorted ones.
template <class Visit>
void for_bins(const Entry* first, const Entry* last, Visit visit) {
    while (first != last) {
        const Entry* end = first + 1;
        while (end != last && end->value == first->value) ++end;
        visit(first, end);
        first = end;
    }
}

template <class Index>
class Sorting {
public:
    Sorting(const ColumnEntries<Index>& table, std::vector<Entry>& entries, std::vector<Column>& columns)
        : table_(table), entries_(entries), columns_(columns) {}

    void operator()(std::int64_t item, const std::atomic<bool>& stop) {
        const std::int64_t last = std::min((item + 1) * BLOCK, table_.n_columns);
        for (std::int64_t c = item * BLOCK; c < last && !stop; ++c) sort(c);
    }

private:
    const ColumnEntries<Index>& table_;
    std::vector<Entry>& entries_;
    std::vector<Column>& columns_;

    void sort(std::int64_t c) {
        Entry *first = entries_.data() + table_.starts[c], *last = first;
        for (auto e = table_.starts[c]; e < table_.starts[c + 1]; ++e) {
            if (table_.values[e] != 0) *last++ = {table_.values[e], static_cast<std::int32_t>(table_.rows[e])};
        }
        const auto before = [](const Entry& a, const Entry& b) {
            return a.value < b.value || (a.value == b.value && a.row < b.row);
        };
        if (!std::is_sorted(first, last, before)) std::sort(first, last, before);
        Column& column = columns_[c];
        if (last - first == table_.n_rows) {
            std::int64_t most = 0;
            for_bins(first, last, [&](const Entry* begin, const Entry* end) {
                if (end - begin > most) column.base = begin->value;
                most = std::max<std::int64_t>(most, end - begin);
            });
            const double base = column.base;
            last = std::remove_if(first, last, [&](const Entry& entry) { return entry.value == base; });
        }
        column.n_entries = last - first;
        for_bins(first, last, [&](const Entry* begin, const Entry*) {
            ++column.n_bins;
            column.n_below += begin->value < column.base;
        });
    }
};

}  // namespace

template <class Index>
bool sort_columns(const ColumnEntries<Index>& table, int n_threads, const Interrupted& interrupted,
                  SortedColumns& out) {
    std::vector<Entry> entries(static_cast<std::size_t>(table.starts[table.n_columns]));
    std::vector<Column> columns(static_cast<std::size_t>(table.n_columns));
    const std::int64_t n_blocks = (table.n_columns + BLOCK - 1) / BLOCK;
    if (!run_parallel(n_blocks, n_threads, interrupted, [&] { return Sorting<Index>(table, entries, columns); })) {
        return false;
    }
    out.n_rows = table.n_rows;
    for (std::int64_t c = 0; c < table.n_columns; ++c) {
        if (columns[c].n_bins > 0) out.names.push_back(static_cast<std::int32_t>(c));
    }
    std::stable_sort(out.names.begin(), out.names.end(), [&](std::int32_t a, std::int32_t b) {
        return columns[a].reach(table.n_rows) > columns[b].reach(table.n_rows);
    });
    std::int64_t n_bins = 0, n_entries = 0;
    for (const std::int32_t name : out.names) {
        out.base.push_back(columns[name].base);
        out.first_bin.push_back(n_bins);
        out.above_base.push_back(n_bins + columns[name].n_below);
        n_bins += columns[name].n_bins;
        n_entries += columns[name].n_entries;
    }
    out.first_bin.push_back(n_bins);
    out.values.reserve(static_cast<std::size_t>(n_bins));
    out.starts.reserve(static_cast<std::size_t>(n_bins) + 1);
    out.rows.reserve(static_cast<std::size_t>(n_entries));
    for (const std::int32_t name : out.names) {
        const Entry* first = entries.data() + table.starts[name];
        for_bins(first, first + columns[name].n_entries, [&](const Entry* begin, const Entry* end) {
            out.values.push_back(begin->value);
            out.starts.push_back(static_cast<std::int64_t>(out.rows.size()));
            for (; begin != end; ++begin) out.rows.push_back(begin->row);
        });
    }
    out.starts.push_back(n_entries);
    return true;
}

template bool sort_columns(const ColumnEntries<std::int32_t>&, int, const Interrupted&, SortedColumns&);
template bool sort_columns(const ColumnEntries<std::int64_t>&, int, const Interrupted&, SortedColumns&);

}  // namespace vicinal
