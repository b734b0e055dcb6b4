// Checks of the arguments that Python passes to the core. Every binding uses them, so that no
// argument can make the core access memory out of bounds, hang or end the process.
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

constexpr std::size_t kMaxRows = 0xfffffffeu;        // row numbers have 32 bits
constexpr std::size_t kMaxColumns = (1u << 24) - 1;  // 256 entries per column, counted in 32 bits
constexpr std::size_t kMaxOutputs = std::size_t{1} << 20;  // outputs or classes

// Raises TypeError("<what> must be <wanted>, not <type of value>").
[[noreturn]] void raise_type_error(nanobind::handle value, const std::string& what,
                                   const char* wanted);

// Converts the value to a T; raises that TypeError if it cannot.
template <class T>
T cast_to(nanobind::handle value, const std::string& what, const char* wanted) {
    T result;
    if (!nanobind::try_cast<T>(value, result)) raise_type_error(value, what, wanted);
    return result;
}

// The shape of an array as text, for example "(3, 100)".
template <class Array>
std::string shape_text(const Array& array) {
    std::string text = "(";
    for (std::size_t axis = 0; axis < array.ndim(); ++axis)
        text += (axis > 0 ? ", " : "") + std::to_string(array.shape(axis));
    return text + (array.ndim() == 1 ? ",)" : ")");
}

// Each check throws an InputError that names the quantity, its value and what is accepted.
void check_length(std::size_t given, std::size_t wanted, const char* what,
                  const char* each = "row");
void check_at_most(std::size_t given, std::size_t most, const char* what);
void check_index(std::size_t index, std::size_t size, const char* what);
void check_finite(std::span<const double> values, const char* what);
// Weights are empty, or one per row: finite, not negative, with a finite sum.
void check_weights(std::span<const double> weights, std::size_t rows);
void check_between(double value, double least, double most, const char* what);
void check_columns(const bosquet::Ensemble& ensemble, std::size_t columns);

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

// Marks an object as in use. A second call, from another thread or from a callback of the first, is
// rejected: waiting for the first call could deadlock.
class InUse {
  public:
    InUse(std::atomic<bool>& flag, const char* what) : flag_(flag) {
        if (flag_.exchange(true))
            throw bosquet::InputError(
                std::string(what) +
                " is in use by another call; wait until that call has returned");
    }
    ~InUse() { flag_ = false; }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

  private:
    std::atomic<bool>& flag_;
};
