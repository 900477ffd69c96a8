// The columns that a group looks at, of a block of rows.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>

#include "tiles.hpp"

namespace vicinal {

template <class Real>
class GroupColumns {
public:
    // One after the other, as the kernels want them: where they stand together in the block, there. Valid until the
    // next call.
    const Real* operator()(const Real* x, const std::int32_t* features, int m) {
        int run = 1;
        while (run < m && features[run] == features[0] + run) ++run;
        if (run == m) return x + static_cast<std::ptrdiff_t>(features[0]) * ROWS;
        if (m > room_) {
            room_ = m;
            columns_.reset(new (std::align_val_t(64)) Real[static_cast<std::size_t>(m) * ROWS]);
        }
        for (int f = 0; f < m; ++f) {
            std::copy_n(x + static_cast<std::ptrdiff_t>(features[f]) * ROWS, ROWS, columns_.get() + f * ROWS);
        }
        return columns_.get();
    }

private:
    std::unique_ptr<Real[], AlignedDelete<Real>> columns_;
    int room_ = 0;
};

}  // namespace vicinal
