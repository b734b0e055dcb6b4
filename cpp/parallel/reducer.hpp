// The one interface between a fit and the machines that it runs on.
//
// The rows of a fit may be divided into parts, each in a process of its own. Whatever decides the
// model is an integer sum or a maximum over all rows, so that the parts need only combine these
// numbers. All parts make the same calls in the same order and receive the same results: they grow
// the same trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/fixed_sum.hpp"

namespace bosquet {

class Reducer {
  public:
    virtual ~Reducer() = default;

    // Replaces each number by its sum over all parts.
    virtual void add(std::span<std::int64_t> numbers) = 0;
    // Replaces each number by the largest one of all parts.
    virtual void maximise(std::span<std::uint64_t> numbers) = 0;
    // Whether there are other parts.
    virtual bool is_distributed() const = 0;

    std::int64_t sum_of(std::int64_t number) {
        add({&number, 1});
        return number;
    }
};

// The reducer of a fit whose rows are all in this process: numbers stay as they are.
Reducer& single_part();

// The largest magnitude of term(0), ..., term(count - 1) of all parts; NaN or infinity if one is.
template <class Term>
double largest_magnitude(std::size_t count, Term term, Reducer& reducer) {
    std::uint64_t largest = 0;
    for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, magnitude_bits(term(i)));
    reducer.maximise({&largest, 1});
    return std::bit_cast<double>(largest);
}

// Their sum, if one of them is infinite or NaN.
template <class Term>
double infinite_sum(std::size_t count, Term term, Reducer& reducer) {
    std::int64_t positive_and_negative[2] = {0, 0};
    for (std::size_t i = 0; i < count; ++i) {
        double value = term(i);  // NaN counts on both sides
        positive_and_negative[0] += !(value <= std::numeric_limits<double>::max());
        positive_and_negative[1] += !(value >= std::numeric_limits<double>::lowest());
    }
    reducer.add(positive_and_negative);
    auto [positive, negative] = positive_and_negative;
    if (positive > 0 && negative > 0) return std::numeric_limits<double>::quiet_NaN();
    double infinity = std::numeric_limits<double>::infinity();
    return positive > 0 ? infinity : -infinity;
}

// The sum of these terms. `all_terms` is the number of terms of all parts.
template <class Term>
double fixed_sum(std::size_t count, Term term, std::uint64_t all_terms, Reducer& reducer) {
    double largest = largest_magnitude(count, term, reducer);
    if (!std::isfinite(largest)) return infinite_sum(count, term, reducer);
    FixedUnit unit = fixed_unit(largest, all_terms);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += to_multiple(term(i), unit.per_unit);
    return unit.value_of(reducer.sum_of(sum));
}

}  // namespace bosquet
