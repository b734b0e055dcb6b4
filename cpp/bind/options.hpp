// Reads options from a dict. Each option is removed under its name; names that remain are unknown
// and an error.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <type_traits>

#include "bind/checks.hpp"
#include "bind/vectors.hpp"

class Options {
  public:
    explicit Options(const nanobind::dict& given) { remaining_.update(given); }

    // Assigns the option to `value`; leaves `value` unchanged if the option is not given.
    template <class T>
    void take(const char* name, T& value) {
        if (!remaining_.contains(name)) return;
        value = cast_to<T>(remaining_[name], std::string("option ") + name, accepted<T>());
        nanobind::del(remaining_[name]);
    }
    // The same for a number that must lie in [least, most].
    template <class T>
    void take(const char* name, T& value, double least, double most) {
        take(name, value);
        check_between(static_cast<double>(value), least, most, name);
    }
    void reject_unknown() const {
        if (remaining_.size() != 0)
            throw bosquet::InputError("unknown options: " +
                                      cast_to<std::string>(nanobind::repr(remaining_.keys()),
                                                           "the name of an option", "text"));
    }

  private:
    template <class T>
    static constexpr const char* accepted() {
        if constexpr (std::is_same_v<T, bool>)
            return "True or False";
        else if constexpr (std::is_unsigned_v<T>)
            return sizeof(T) > 4 ? "a non-negative integer that fits in 64 bits"
                                 : "a non-negative integer that fits in 32 bits";
        else if constexpr (std::is_integral_v<T>)
            return sizeof(T) > 4 ? "an integer that fits in 64 bits"
                                 : "an integer that fits in 32 bits";
        else if constexpr (std::is_floating_point_v<T>)
            return "a number";
        else if constexpr (std::is_same_v<T, std::string>)
            return "text";
        else
            return "a list of integers or a list of lists of integers";
    }

    nanobind::dict remaining_;
};
