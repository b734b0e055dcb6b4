// Quadrature rules that integrate polynomials over [0, 1] exactly.
#pragma once

#include <cstddef>
#include <vector>

namespace bosquet {

struct Quadrature {
    std::vector<double> points;   // ascending, inside (0, 1)
    std::vector<double> weights;  // positive, with sum 1
};

// The Gauss-Legendre rule with `count` points, exact up to degree 2 · count - 1.
Quadrature gauss_legendre(std::size_t count);

}  // namespace bosquet
