// Options come as a dictionary: each is taken out under its name, and what is left is a mistake.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "base/error.hpp"

template <class T>
void take(nanobind::dict& options, const char* name, T& into) {
    if (!options.contains(name)) return;
    into = nanobind::cast<T>(options[name]);
    nanobind::del(options[name]);
}

inline void refuse_others(const nanobind::dict& options) {
    if (options.size() != 0)
        throw bosquet::InputError("unknown option " +
                                  nanobind::cast<std::string>(nanobind::repr(options.keys())));
}
