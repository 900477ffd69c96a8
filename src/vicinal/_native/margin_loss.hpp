// Losses of margins, which fall as margins grow.
#pragma once
#include <cmath>

namespace vicinal {

// -s, log(1 + exp(-s)), max(0, 1 - s), and the last one rounded: 1 - s up to 0, (s - 2)^2 / 4 up to 2, then 0.
enum class MarginLoss { identity, logistic, hinge, huber };
constexpr int n_margin_losses = 4;

// Minus the derivative.
inline double slope(MarginLoss loss, double margin) {
    switch (loss) {
        case MarginLoss::identity:
            return 1;
        case MarginLoss::hinge:
            return margin < 1 ? 1 : 0;
        case MarginLoss::huber:
            return margin <= 0 ? 1 : margin < 2 ? 1 - margin / 2 : 0;
        default:
            return margin > 0 ? std::exp(-margin) / (1 + std::exp(-margin)) : 1 / (1 + std::exp(margin));
    }
}

inline double value(MarginLoss loss, double margin) {
    switch (loss) {
        case MarginLoss::identity:
            return -margin;
        case MarginLoss::hinge:
            return margin < 1 ? 1 - margin : 0;
        case MarginLoss::huber:
            return margin <= 0 ? 1 - margin : margin < 2 ? (2 - margin) * (2 - margin) / 4 : 0;
        default:
            return std::log1p(std::exp(-std::abs(margin))) + (margin < 0 ? -margin : 0);
    }
}

}  // namespace vicinal
