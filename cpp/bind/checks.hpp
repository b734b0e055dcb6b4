// Checks of what Python passes to the core. Every binding uses them, so that no value can make the
// core read or write outside its memory, run without end or end the process.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "base/error.hpp"
#include "trees/tree.hpp"
#include "trees/validate.hpp"

constexpr std::size_t kMostRows = 0xfffffffeu;              // row numbers take 32 bits
constexpr std::size_t kMostColumns = (1u << 24) - 1;        // 256 entries each, counted in 32 bits
constexpr std::size_t kMostOutputs = std::size_t{1} << 20;  // or classes

// The value as a T; otherwise a TypeError that names it: "<what> must be <wanted>, not <its type>".
[[noreturn]] void refuse_type(nanobind::handle value, const std::string& what, const char* wanted);

template <class T>
T cast_to(nanobind::handle value, const std::string& what, const char* wanted) {
    T result;
    if (!nanobind::try_cast<T>(value, result)) refuse_type(value, what, wanted);
    return result;
}

// InputErrors that name the quantity, its value and what is accepted.
void check_length(std::size_t given, std::size_t wanted, const char* what,
                  const char* each = "row");
void check_at_most(std::size_t given, std::size_t most, const char* what);
void check_index(std::size_t index, std::size_t size, const char* what);
void check_finite(std::span<const double> values, const char* what);
// One for each row, or none: finite, not negative, with a finite sum.
void check_weights(std::span<const double> weights, std::size_t rows);
void check_between(double value, double least, double most, const char* what);
void check_columns(const bosquet::Ensemble& ensemble, std::size_t columns);

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

// Holds an object while it is worked on. A second call, from another thread or from a callback of
// the first, is refused: waiting for the first could take for ever.
class InUse {
  public:
    InUse(std::atomic<bool>& flag, const char* what) : flag_(flag) {
        if (flag_.exchange(true))
            throw bosquet::InputError(std::string(what) +
                                      " is in use by another call; wait until that has returned");
    }
    ~InUse() { flag_ = false; }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

  private:
    std::atomic<bool>& flag_;
};
