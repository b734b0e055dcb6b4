// Options come as a dictionary: each is taken out under its name, and what is left is a mistake.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <type_traits>

#include "bind/checks.hpp"
#include "bind/vectors.hpp"

class Options {
  public:
    explicit Options(const nanobind::dict& given) { left_.update(given); }

    // Leaves `into` as it is where the option is not given.
    template <class T>
    void take(const char* name, T& into) {
        if (!left_.contains(name)) return;
        into = cast_to<T>(left_[name], std::string("option ") + name, kind<T>());
        nanobind::del(left_[name]);
    }
    // The same for a number, which must lie in [least, most].
    template <class T>
    void take(const char* name, T& into, double least, double most) {
        take(name, into);
        check_between(static_cast<double>(into), least, most, name);
    }
    void refuse_others() const {
        if (left_.size() != 0)
            throw bosquet::InputError("unknown option " +
                                      cast_to<std::string>(nanobind::repr(left_.keys()),
                                                           "the name of an option", "text"));
    }

  private:
    template <class T>
    static constexpr const char* kind() {
        if constexpr (std::is_same_v<T, bool>)
            return "True or False";
        else if constexpr (std::is_unsigned_v<T>)
            return "a whole number that is not negative and not too large";
        else if constexpr (std::is_integral_v<T>)
            return "a whole number that is not too large";
        else if constexpr (std::is_floating_point_v<T>)
            return "a number";
        else if constexpr (std::is_same_v<T, std::string>)
            return "text";
        else
            return "a list of whole numbers, or of such lists";
    }

    nanobind::dict left_;
};
