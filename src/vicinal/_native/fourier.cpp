#include "fourier.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "tiles.hpp"

namespace vicinal {
namespace {

constexpr int PANEL = 8 * TILE;  // frequencies at a time
constexpr int BLOCKS = 4;        // blocks of rows to which they are applied

// One thread's work: a few blocks of rows.
template <class Real>
class FourierWorker {
public:
    FourierWorker(const Kernels<Real>& kernels, const Matrix& x, const Frequencies<Real>& frequencies,
                  const std::vector<Tiles<Real>>& panels, Real scale, Real* out)
        : kernels_(kernels), x_(x), frequencies_(frequencies), panels_(panels), scale_(scale), out_(out),
          blocks_(frequencies.frequencies ? BLOCKS : 1, Block<Real>(kernels)),
          size_(std::max<std::size_t>(x.n_columns, frequencies.n) * ROWS), rows_(allocate(size_ * blocks_.size())),
          angles_(allocate(std::max<std::size_t>(PANEL, frequencies.n) * ROWS)) {
        for (std::size_t b = 0; b < blocks_.size(); ++b) blocks_[b].x = rows_.get() + b * size_;
    }

    static std::int64_t rows_each(const Frequencies<Real>& frequencies) {
        return (frequencies.frequencies ? BLOCKS : 1) * ROWS;
    }

    void operator()(std::int64_t chunk, const std::atomic<bool>&) {
        first_ = chunk * rows_each(frequencies_);
        const std::int64_t last = std::min(x_.n_rows, first_ + rows_each(frequencies_));
        const int n_blocks = static_cast<int>((last - first_ + ROWS - 1) / ROWS);
        auto count = [&](int b) { return static_cast<int>(std::min<std::int64_t>(ROWS, last - first_ - b * ROWS)); };
        for (int b = 0; b < n_blocks; ++b) blocks_[b].load(x_, first_ + b * ROWS, count(b), {}, false);
        if (frequencies_.factors) {
            transform(count(0));
        } else if (frequencies_.frequencies) {
            for (std::size_t panel = 0; panel < panels_.size(); ++panel) {
                const std::int64_t start = static_cast<std::int64_t>(panel) * PANEL;
                const int width = static_cast<int>(std::min<std::int64_t>(PANEL, frequencies_.count - start));
                for (int b = 0; b < n_blocks; ++b) {
                    panels_[panel].multiply(kernels_, blocks_[b].x, nullptr, angles_.get());
                    write(angles_.get(), start, width, nullptr, b, count(b));
                }
            }
        } else {
            write(blocks_[0].x, 0, static_cast<int>(frequencies_.count), nullptr, 0, count(0));
        }
        for (int b = 0; b < n_blocks; ++b) blocks_[b].clear(x_, first_ + b * ROWS, count(b));
    }

private:
    using Memory = std::unique_ptr<Real[], AlignedDelete<Real>>;
    static Memory allocate(std::size_t size) { return Memory(new (std::align_val_t(64)) Real[size]()); }

    const Kernels<Real>& kernels_;
    const Matrix& x_;
    const Frequencies<Real>& frequencies_;
    const std::vector<Tiles<Real>>& panels_;
    const Real scale_;
    Real* const out_;
    std::vector<Block<Real>> blocks_;
    const std::size_t size_;
    Memory rows_, angles_;
    std::int64_t first_ = 0;

    void transform(int n_rows) {
        const int n = frequencies_.n;
        const std::size_t given = static_cast<std::size_t>(x_.n_columns) * ROWS;
        const Real* factors = frequencies_.factors;
        for (std::int64_t start = 0; start < frequencies_.count; start += n, factors += 4 * n) {
            std::copy_n(blocks_[0].x, given, angles_.get());
            std::fill(angles_.get() + given, angles_.get() + static_cast<std::size_t>(n) * ROWS, Real(0));
            for (int turn = 0; turn < 3; ++turn) kernels_.hadamard(angles_.get(), factors + turn * n, n);
            const int width = static_cast<int>(std::min<std::int64_t>(n, frequencies_.count - start));
            write(angles_.get(), start, width, factors + 3 * n, 0, n_rows);
        }
    }

    void write(const Real* angles, std::int64_t start, int width, const Real* factors, int b, int n_rows) {
        const std::int64_t stride = 2 * frequencies_.count;
        kernels_.cos_sin(angles, width, factors, scale_, out_ + (first_ + b * ROWS) * stride + 2 * start, stride,
                         n_rows);
    }
};

}  // namespace

template <class Real>
bool fourier_features(const InstructionSet& set, const Matrix& x, const Frequencies<Real>& frequencies, Real scale,
                      int n_threads, const Interrupted& interrupted, Real* out) {
    std::vector<Tiles<Real>> panels;
    for (std::int64_t start = 0; frequencies.frequencies && start < frequencies.count; start += PANEL) {
        const int width = static_cast<int>(std::min<std::int64_t>(PANEL, frequencies.count - start));
        panels.emplace_back().pack(*frequencies.frequencies, start, width, NEGATIVE<Real>);
    }
    const std::int64_t each = FourierWorker<Real>::rows_each(frequencies);
    return run_parallel((x.n_rows + each - 1) / each, n_threads, interrupted,
                        [&] { return FourierWorker<Real>(kernels_of<Real>(set), x, frequencies, panels, scale, out); });
}

template bool fourier_features<float>(const InstructionSet&, const Matrix&, const Frequencies<float>&, float, int,
                                      const Interrupted&, float*);
template bool fourier_features<double>(const InstructionSet&, const Matrix&, const Frequencies<double>&, double, int,
                                       const Interrupted&, double*);

}  // namespace vicinal
