#include "linear.hpp"

#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "draws.hpp"
#include "linear_losses.hpp"

namespace vicinal {

namespace {

template <class Real>
const RowLoops<Real>& loops_of(const InstructionSet& set);
template <>
const RowLoops<float>& loops_of<float>(const InstructionSet& set) {
    return set.linear->f32;
}
template <>
const RowLoops<double>& loops_of<double>(const InstructionSet& set) {
    return set.linear->f64;
}

bool find_lengths(const InstructionSet& set, const LinearProblem& problem, int n_threads,
                  const Interrupted& interrupted, std::vector<double>& lengths) {
    constexpr std::int64_t STRIDE = 4096;
    const std::int64_t n = problem.rows.n_rows;
    lengths.resize(static_cast<std::size_t>(n));
    return run_parallel((n + STRIDE - 1) / STRIDE, n_threads, interrupted, [&] {
        return [&](std::int64_t part, const std::atomic<bool>&) {
            for (std::int64_t i = part * STRIDE; i < std::min(n, (part + 1) * STRIDE); ++i) {
                lengths[static_cast<std::size_t>(i)] =
                    set.linear->squared_length(problem.rows, i) + problem.constant * problem.constant;
            }
        };
    });
}

// One batch of outputs: its weights, its duals, and rows that sleep while nothing moves them.
template <class Real, class Loss>
class Batch {
public:
    Batch(const InstructionSet& set, const LinearProblem& problem, const std::vector<double>& lengths, int number,
          int n_threads, Loss loss)
        : loops_(loops_of<Real>(set)), exact_(set.linear->f64), problem_(problem), lengths_(lengths), loss_(loss),
          n_threads_(n_threads), outputs_(problem.outputs + problem.batch_starts[number]),
          n_outputs_(problem.batch_starts[number + 1] - problem.batch_starts[number]) {
        lanes_ = n_outputs_ > 4 ? 8 : n_outputs_ > 2 ? 4 : n_outputs_;
        for (int c = 0; c < n_outputs_; ++c) {
            positive_[c] = static_cast<Real>(problem.positive[outputs_[c]]);
            negative_[c] = static_cast<Real>(problem.negative[outputs_[c]]);
        }
        const auto n = static_cast<std::size_t>(problem.rows.n_rows);
        const auto size = (static_cast<std::size_t>(problem.rows.n_columns) + 1) * static_cast<std::size_t>(lanes_);
        duals_.assign(n * static_cast<std::size_t>(lanes_), 0);
        sums_.assign(size, 0);
        exact_sums_.assign(size, 0);
        asleep_.assign(n, 0);
        naps_.assign(n, 0);
        for (std::int64_t i = 0; i < problem.rows.n_rows; ++i) {
            if (problem.weights[i] > 0) rows_.push_back(static_cast<std::int32_t>(i));
        }
        if (!problem.base) return;
        base_.resize(size);
        const std::int64_t width = problem.rows.n_columns + 1;
        for (int c = 0; c < n_outputs_; ++c) {
            for (std::int64_t j = 0; j < width; ++j) base_[j * lanes_ + c] = problem.base[outputs_[c] * width + j];
        }
        base_squares_ = squares_of(base_);
    }

    bool solve(const LinearLimits& limits, Real* duals, double* sums, LinearReport& report,
               const std::atomic<bool>& stop) {
        report = {1, -1, 0};
        double enough = limits.tol;  // what the estimate must reach before the objectives are computed
        if (copy_duals_in(duals) || !base_.empty()) certify(report);
        while (!is_done(limits, report) && report.epochs < limits.max_epochs) {
            wake(limits.seed, static_cast<std::uint64_t>(report.epochs));
            moving_ = false;
            const double gap = epoch(stop);
            if (stop) return false;
            ++report.epochs;
            const double share = gap / std::max(gap + dual_now(), TINY);
            worth_ = share > ROUNDING ? WORTH * gap / static_cast<double>(std::max<std::size_t>(awake_.size(), 1)) : 0;
            if (share > enough && report.epochs < limits.max_epochs) continue;
            certify(report);
            // The estimate is of weights that moved on; where it flattered, it has to fall further by as much.
            const double truth = (report.primal - report.dual) / std::max(report.primal, TINY);
            enough = std::min(enough, 0.8 * share * limits.tol / std::max(truth, TINY));
            std::fill(asleep_.begin(), asleep_.end(), std::uint8_t{0});
        }
        copy_duals_out(duals);
        const std::int64_t width = problem_.rows.n_columns + 1;
        for (int c = 0; c < n_outputs_; ++c) {
            for (std::int64_t j = 0; j < width; ++j) sums[outputs_[c] * width + j] = exact_sums_[j * lanes_ + c];
        }
        return true;
    }

private:
    static constexpr double TINY = 1e-300;
    static constexpr int LONGEST_NAP = 7;
    static constexpr double WORTH = 0.05;    // of the last pass's mean gap, what a row must have to be worth a step
    static constexpr double FINEST = 1e-12;  // a gap below which rounding hides how far the duals still have to go
    static constexpr Real STILL = sizeof(Real) == 4 ? 1e-6 : 1e-9;
    static constexpr double ROUNDING = 1e-6;  // a share of the objective so small that rows' own gaps say nothing
    static constexpr std::size_t RUN = 16;    // rows that keep their order, where there are many
    static constexpr std::size_t AHEAD = 4;   // rows between the one whose turn it is and the one that is fetched

    const RowLoops<Real>& loops_;
    const RowLoops<double>& exact_;
    const LinearProblem& problem_;
    const std::vector<double>& lengths_;
    const Loss loss_;
    const int n_threads_;  // for what a batch need not do row by row
    const std::int32_t* outputs_;
    const int n_outputs_;
    int lanes_ = 0;
    bool moving_ = false;                                         // whether the last pass changed more than last digits
    double worth_ = 0;                                            // rows with a smaller gap stay where they are
    Real positive_[MOST_LANES] = {}, negative_[MOST_LANES] = {};  // factors of the lanes' outputs
    std::vector<Real> duals_, sums_;
    std::vector<double> exact_sums_, base_;
    double base_squares_ = 0;
    std::vector<std::int32_t> rows_, awake_;  // rows that count; those whose turn comes in this pass
    std::vector<std::uint8_t> asleep_, naps_;

    double target(std::int64_t row, int c) const {
        if (problem_.targets) return problem_.targets[row * problem_.n_outputs + outputs_[c]];
        return problem_.labels[row] == outputs_[c] ? 1 : -1;
    }
    double cap(std::int64_t row, int c) const {
        if (problem_.targets) return problem_.weights[row];
        const double* factors = problem_.labels[row] == outputs_[c] ? problem_.positive : problem_.negative;
        return problem_.weights[row] * factors[outputs_[c]];
    }

    double shrunk(double sum) const {
        return sum > problem_.shrink ? sum - problem_.shrink : sum < -problem_.shrink ? sum + problem_.shrink : 0;
    }

    // Of the weights that sums stand for.
    template <class Sum>
    double squares_of(const std::vector<Sum>& sums) const {
        const auto last = static_cast<std::size_t>(problem_.rows.n_columns * lanes_);
        double squares = 0;
        for (std::size_t j = 0; j < sums.size(); ++j) {
            const double weight = j < last ? shrunk(sums[j]) : static_cast<double>(sums[j]);
            squares += weight * weight;
        }
        return squares;
    }

    bool is_done(const LinearLimits& limits, const LinearReport& report) const {
        return report.primal - report.dual <= limits.tol * report.primal && (limits.tol > FINEST || !moving_);
    }

    // Runs of rows in any order, those that sleep left out: a run lies together in memory.
    void wake(std::uint64_t seed, std::uint64_t epoch) {
        Stream stream(seed, epoch);
        const std::size_t length = rows_.size() < 64 * RUN ? 1 : RUN;
        std::vector<std::uint32_t> runs((rows_.size() + length - 1) / length);
        std::iota(runs.begin(), runs.end(), std::uint32_t{0});
        for (std::size_t i = runs.size(); i > 1; --i) {
            std::swap(runs[i - 1], runs[stream.below(static_cast<std::uint32_t>(i))]);
        }
        awake_.clear();
        for (const std::size_t run : runs) {
            for (std::size_t k = run * length; k < std::min(rows_.size(), (run + 1) * length); ++k) {
                auto& asleep = asleep_[static_cast<std::size_t>(rows_[k])];
                if (asleep > 0) {
                    --asleep;
                } else {
                    awake_.push_back(rows_[k]);
                }
            }
        }
    }

    // Each row's duals in turn to where they are best, all others as they are. Returns the sum of the gaps that the
    // rows had when their turn came.
    double epoch(const std::atomic<bool>& stop) {
        double gap = 0;
        for (std::size_t k = 0; k < awake_.size(); ++k) {
            if ((k & 1023) == 1023 && stop) return gap;
            if (k + AHEAD < awake_.size()) fetch(awake_[k + AHEAD]);
            const auto row = static_cast<std::size_t>(awake_[k]);
            const int nap = move(awake_[k], gap) ? 0 : std::min(2 * naps_[row] + 1, LONGEST_NAP);
            naps_[row] = asleep_[row] = static_cast<std::uint8_t>(nap);
        }
        return gap;
    }

    void fetch(std::int64_t row) const {
        prefetch_row(problem_.rows, row);
        __builtin_prefetch(lengths_.data() + row);
        __builtin_prefetch(duals_.data() + row * lanes_);
    }

    // Targets and caps of all lanes; those without an output have a cap of zero, and stay where they are.
    void read_lanes(std::int64_t row, Real* y, Real* most) const {
        const Real weight = static_cast<Real>(problem_.weights[row]);
        if (problem_.targets) {
            const double* targets = problem_.targets + row * problem_.n_outputs;
            for (int c = 0; c < n_outputs_; ++c) y[c] = static_cast<Real>(targets[outputs_[c]]), most[c] = weight;
            return;
        }
        for (int c = 0; c < MOST_LANES; ++c) y[c] = -1, most[c] = weight * negative_[c];
        const std::int32_t label = problem_.labels[row];
        for (int c = 0; c < n_outputs_; ++c) {
            if (outputs_[c] == label) y[c] = 1, most[c] = weight * positive_[c];
        }
    }

    bool move(std::int64_t row, double& gap) {
        // Plain arithmetic is done for all lanes at once, exponentials for those with an output alone.
        constexpr bool PLAIN = !std::is_same_v<Loss, Logistic>;
        Real scores[MOST_LANES] = {}, y[MOST_LANES] = {}, most[MOST_LANES] = {};
        Real before[MOST_LANES] = {}, after[MOST_LANES] = {}, steps[MOST_LANES] = {}, gaps[MOST_LANES] = {};
        Real* own = sums_.data() + problem_.rows.n_columns * lanes_;
        Real* duals = duals_.data() + row * lanes_;
        const Real q = static_cast<Real>(lengths_[static_cast<std::size_t>(row)]);
        const Real constant = static_cast<Real>(problem_.constant);
        loops_.scores(problem_.rows, row, sums_.data(), static_cast<Real>(problem_.shrink), lanes_, scores);
        read_lanes(row, y, most);
        for (int c = 0; c < lanes_; ++c) scores[c] += constant * own[c], before[c] = duals[c];
        const int count = PLAIN ? MOST_LANES : n_outputs_;
        for (int c = 0; c < count; ++c) {
            gaps[c] = static_cast<Real>(loss_.loss(scores[c], y[c], most[c]) +
                                        loss_.conjugate(before[c], y[c], most[c]) + before[c] * scores[c]);
            after[c] = loss_.step(before[c], scores[c], y[c], q, most[c]);
            steps[c] = after[c] - before[c];
        }
        bool moved = false;
        double own_gap = 0;
        for (int c = 0; c < n_outputs_; ++c) {
            own_gap += gaps[c];
            moved |= steps[c] != 0;
        }
        gap += own_gap;
        if (!moved || own_gap <= worth_) return false;
        for (int c = 0; c < n_outputs_; ++c) {
            duals[c] = after[c];
            moving_ |= std::abs(steps[c]) > STILL * std::abs(after[c]);
        }
        loops_.add(problem_.rows, row, steps, lanes_, sums_.data());
        for (int c = 0; c < n_outputs_; ++c) own[c] += constant * steps[c];
        return true;
    }

    // The dual objective by the sums as they are, rounding and all.
    double dual_now() const {
        double sum = 0;
        for (const std::int32_t row : rows_) {
            for (int c = 0; c < n_outputs_; ++c) {
                const double dual = duals_[static_cast<std::size_t>(row) * lanes_ + c];
                if (dual != 0) sum += loss_.conjugate(dual, target(row, c), cap(row, c));
            }
        }
        return (base_squares_ - squares_of(sums_)) / 2 - sum;
    }

    // What weights cost, beyond those of the base where there is one: it is zero there and nowhere less.
    double cost_of_weights(double squares) const {
        if (base_.empty() && problem_.shrink == 0) return squares / 2;
        const auto last = static_cast<std::size_t>(problem_.rows.n_columns * lanes_);
        double lengths = 0, along = 0;
        for (std::size_t j = 0; j < exact_sums_.size(); ++j) {
            const double weight = j < last ? shrunk(exact_sums_[j]) : exact_sums_[j];
            if (j < last) lengths += std::abs(weight);
            if (!base_.empty()) along += weight * base_[j];
        }
        return (squares + base_squares_) / 2 + problem_.shrink * lengths - along;
    }

    // Sums anew from the duals, and both objectives, all in double precision.
    void certify(LinearReport& report) {
        const std::int64_t last = problem_.rows.n_columns * lanes_;
        if (base_.empty()) {
            std::fill(exact_sums_.begin(), exact_sums_.end(), 0.0);
        } else {
            exact_sums_ = base_;
        }
        double conjugates = 0, losses = 0;
        double lane[MOST_LANES] = {};
        for (const std::int32_t row : rows_) {
            bool any = false;
            for (int c = 0; c < n_outputs_; ++c) {
                Real& kept = duals_[static_cast<std::size_t>(row) * lanes_ + c];
                const double y = target(row, c), most = cap(row, c);
                lane[c] = loss_.feasible(kept, y, most);
                conjugates += loss_.conjugate(lane[c], y, most);
                any |= lane[c] != 0;
                exact_sums_[last + c] += problem_.constant * lane[c];
            }
            if (any) exact_.add(problem_.rows, row, lane, lanes_, exact_sums_.data());
        }
        std::copy(exact_sums_.begin(), exact_sums_.end(), sums_.begin());
        for (const double part : losses_of_parts()) losses += part;
        const double squares = squares_of(exact_sums_);
        report.primal = cost_of_weights(squares) + losses;
        report.dual = (base_squares_ - squares) / 2 - conjugates;
    }

    // The sum of losses by the exact sums, in parts that are the same for any number of threads.
    std::vector<double> losses_of_parts() const {
        constexpr std::size_t PARTS = 64;
        std::vector<double> sums(PARTS, 0.0);
        const std::int64_t last = problem_.rows.n_columns * lanes_;
        run_parallel(
            PARTS, n_threads_, [](double) { return false; },
            [&] {
                return [&](std::int64_t part, const std::atomic<bool>&) {
                    const auto p = static_cast<std::size_t>(part);
                    double lane[MOST_LANES];
                    for (std::size_t k = rows_.size() * p / PARTS; k < rows_.size() * (p + 1) / PARTS; ++k) {
                        const std::int32_t row = rows_[k];
                        exact_.scores(problem_.rows, row, exact_sums_.data(), problem_.shrink, lanes_, lane);
                        for (int c = 0; c < n_outputs_; ++c) {
                            const double score = lane[c] + problem_.constant * exact_sums_[last + c];
                            sums[p] += loss_.loss(score, target(row, c), cap(row, c));
                        }
                    }
                };
            });
        return sums;
    }

    // Whether any of them is not zero.
    bool copy_duals_in(const Real* outside) {
        bool any = false;
        for (const std::int32_t row : rows_) {
            for (int c = 0; c < n_outputs_; ++c) {
                const Real theirs = outside[static_cast<std::int64_t>(row) * problem_.n_outputs + outputs_[c]];
                Real& own = duals_[static_cast<std::size_t>(row) * lanes_ + c];
                own = static_cast<Real>(loss_.feasible(theirs, target(row, c), cap(row, c)));
                any |= own != 0;
            }
        }
        return any;
    }

    void copy_duals_out(Real* outside) const {
        for (const std::int32_t row : rows_) {
            for (int c = 0; c < n_outputs_; ++c) {
                outside[static_cast<std::int64_t>(row) * problem_.n_outputs + outputs_[c]] =
                    duals_[static_cast<std::size_t>(row) * lanes_ + c];
            }
        }
    }
};

template <class F>
bool with_loss(const LinearProblem& problem, F f) {
    switch (problem.loss) {
        case LinearLoss::squared_hinge:
            return f(SquaredHinge{});
        case LinearLoss::hinge:
            return f(Hinge{});
        case LinearLoss::logistic:
            return f(Logistic{});
        default:
            return f(Huber{problem.knee});
    }
}

}  // namespace

template <class Real>
bool solve_linear(const InstructionSet& set, const LinearProblem& problem, const LinearLimits& limits, int n_threads,
                  const Interrupted& interrupted, Real* duals, double* sums, LinearReport* reports) {
    std::vector<double> lengths;
    if (!find_lengths(set, problem, n_threads, interrupted, lengths)) return false;
    const int own_threads = std::max(1, n_threads / problem.n_batches);
    return with_loss(problem, [&](auto loss) {
        return run_parallel(problem.n_batches, n_threads, interrupted, [&] {
            return [&](std::int64_t number, const std::atomic<bool>& stop) {
                Batch<Real, decltype(loss)> batch(set, problem, lengths, static_cast<int>(number), own_threads, loss);
                batch.solve(limits, duals, sums, reports[number], stop);
            };
        });
    });
}

template bool solve_linear<float>(const InstructionSet&, const LinearProblem&, const LinearLimits&, int,
                                  const Interrupted&, float*, double*, LinearReport*);
template bool solve_linear<double>(const InstructionSet&, const LinearProblem&, const LinearLimits&, int,
                                   const Interrupted&, double*, double*, LinearReport*);

}  // namespace vicinal
