// Losses of a linear model and the exact step of one dual variable.
//
// The model minimises |w|^2 / 2 + sum_i cap_i loss(s_i, y_i) with s_i = w.x_i. Its dual maximises
//     -|w|^2 / 2 - sum_i conjugate_i(b_i)   with   w = sum_i b_i x_i.
// A row's gap, cap loss(s) + conjugate(b) + b s, is never negative; where w belongs to the duals, the sum of all rows'
// gaps is the distance between the two objectives.
#pragma once
#include <algorithm>
#include <cmath>

namespace vicinal {

// max(0, 1 - y s)^2 with y of -1 or 1: 0 <= y b.
struct SquaredHinge {
    template <class Real>
    Real step(Real dual, Real score, Real target, Real q, Real cap) const {
        const Real a = dual * target;
        const Real up = 1 - target * score - a / (2 * cap);
        return cap > 0 ? target * std::max<Real>(0, a + up / (q + 1 / (2 * cap))) : 0;
    }
    template <class Real>
    Real loss(Real score, Real target, Real cap) const {
        const Real short_of = std::max<Real>(0, 1 - target * score);
        return cap * short_of * short_of;
    }
    template <class Real>
    Real conjugate(Real dual, Real target, Real cap) const {
        return cap > 0 ? dual * dual / (4 * cap) - dual * target : 0;
    }
    double feasible(double dual, double target, double cap) const { return cap > 0 && dual * target > 0 ? dual : 0; }
};

// max(0, 1 - y s): 0 <= y b <= cap.
struct Hinge {
    template <class Real>
    Real step(Real dual, Real score, Real target, Real q, Real cap) const {
        const Real up = 1 - target * score, a = dual * target;
        if (!(q > 0)) return up > 0 ? target * cap : dual;
        return target * std::min(cap, std::max<Real>(0, a + up / q));
    }
    template <class Real>
    Real loss(Real score, Real target, Real cap) const {
        return cap * std::max<Real>(0, 1 - target * score);
    }
    template <class Real>
    Real conjugate(Real dual, Real target, Real) const {
        return -dual * target;
    }
    double feasible(double dual, double target, double cap) const {
        return target * std::min(cap, std::max(0.0, dual * target));
    }
};

// log(1 + exp(-y s)): 0 < y b < cap.
struct Logistic {
    // The root of u + q (cap / (1 + exp(-u)) - a) + y s, where u is the log-odds of the new a / cap. The function rises
    // with a slope of at least 1; Newton's steps that leave the bracket are halvings.
    template <class Real>
    Real step(Real dual, Real score, Real target, Real q, Real cap) const {
        if (!(cap > 0)) return 0;
        const double a = dual * target, margin = target * score, width = static_cast<double>(q) * cap;
        double low = -margin - q * (cap - a), high = -margin + q * a;
        double u = a > 0 && a < cap ? std::log(a / (cap - a)) : -margin;
        for (int i = 0; i < 50; ++i) {
            if (!(u > low && u < high)) u = low + (high - low) / 2;
            const double share = 1 / (1 + std::exp(-u));
            const double value = u + width * share - q * a + margin;
            (value > 0 ? high : low) = u;
            const double change = value / (1 + width * share * (1 - share));
            u -= change;
            if (std::abs(change) < 1e-7 * (1 + std::abs(u))) break;
        }
        return static_cast<Real>(target * cap / (1 + std::exp(-u)));
    }
    template <class Real>
    double loss(Real score, Real target, Real cap) const {
        const double margin = static_cast<double>(target) * score;
        return cap * (margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin);
    }
    template <class Real>
    double conjugate(Real dual, Real target, Real cap) const {
        const double share = cap > 0 ? static_cast<double>(dual) * target / cap : 0;
        return cap * (part(share) + part(1 - share));
    }
    double feasible(double dual, double target, double cap) const { return Hinge{}.feasible(dual, target, cap); }

private:
    static double part(double share) { return share > 0 ? share * std::log(share) : 0; }
};

// (s - y)^2 up to a distance of `knee`, and from there on straight lines: |b| <= 2 cap knee.
struct Huber {
    double knee;  // infinite: squares all the way

    template <class Real>
    Real step(Real dual, Real score, Real target, Real q, Real cap) const {
        if (!(cap > 0)) return 0;
        const Real most = static_cast<Real>(2 * cap * knee);
        const Real up = target - score - dual / (2 * cap);
        return std::min(most, std::max(-most, dual + up / (q + 1 / (2 * cap))));
    }
    template <class Real>
    Real loss(Real score, Real target, Real cap) const {
        const Real r = std::abs(target - score);
        return cap * static_cast<Real>(r <= knee ? r * r : knee * (2 * r - knee));
    }
    template <class Real>
    Real conjugate(Real dual, Real target, Real cap) const {
        return cap > 0 ? dual * dual / (4 * cap) - dual * target : 0;
    }
    double feasible(double dual, double, double cap) const {
        return cap > 0 ? std::min(2 * cap * knee, std::max(-2 * cap * knee, dual)) : 0;
    }
};

}  // namespace vicinal
