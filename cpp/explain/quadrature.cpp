#include "explain/quadrature.hpp"

#include <cmath>

namespace bosquet {

Quadrature gauss_legendre(std::size_t count) {
    constexpr double kPi = 3.14159265358979323846;
    Quadrature rule{std::vector<double>(count), std::vector<double>(count)};
    for (std::size_t i = 0; i < count; ++i) {
        // Newton's method for the i-th root of the Legendre polynomial on [-1, 1], with a start
        // that is close enough to converge to that root.
        double x =
            -std::cos(kPi * (static_cast<double>(i) + 0.75) / (static_cast<double>(count) + 0.5));
        double slope = 1;
        for (int step = 0; step < 100; ++step) {
            double before = 1, here = x;  // P_0, P_1
            for (std::size_t n = 2; n <= count; ++n) {
                auto m = static_cast<double>(n);
                double next = ((2 * m - 1) * x * here - (m - 1) * before) / m;
                before = here;
                here = next;
            }
            slope = static_cast<double>(count) * (x * here - before) / (x * x - 1);
            double move = here / slope;
            x -= move;
            if (std::abs(move) < 1e-16) break;
        }
        rule.points[i] = (1 + x) / 2;
        rule.weights[i] = 1 / ((1 - x * x) * slope * slope);
    }
    return rule;
}

}  // namespace bosquet
