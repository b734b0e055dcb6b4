#include "bind/checks.hpp"

#include <cmath>
#include <cstdio>

namespace nb = nanobind;
using bosquet::InputError;

namespace {

std::string text_of(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

}  // namespace

void raise_type_error(nb::handle value, const std::string& what, const char* wanted) {
    std::string message = what + " must be " + wanted + ", not " + Py_TYPE(value.ptr())->tp_name;
    if (PyLong_CheckExact(value.ptr())) {  // an int of the wrong size: name its value
        nb::object text = nb::steal(PyObject_Repr(value.ptr()));
        if (text.is_valid())
            message += std::string(" ") + nb::borrow<nb::str>(text).c_str();
        else
            PyErr_Clear();  // an int with too many digits to print
    }
    throw nb::type_error(message.c_str());
}

void check_length(std::size_t given, std::size_t wanted, const char* what, const char* each) {
    if (given != wanted)
        throw InputError(std::string(what) + " has " + std::to_string(given) +
                         " entries, but there are " + std::to_string(wanted) + " " + each +
                         "s; pass one entry per " + each);
}

void check_at_most(std::size_t given, std::size_t most, const char* what) {
    if (given > most)
        throw InputError("there are " + std::to_string(given) + " " + what + ", but at most " +
                         std::to_string(most) + " are supported");
}

void check_index(std::size_t index, std::size_t size, const char* what) {
    if (index >= size)
        throw nb::index_error((std::string(what) + " " + std::to_string(index) +
                               " is out of range; the number of " + what + "s is " +
                               std::to_string(size))
                                  .c_str());
}

void check_finite(std::span<const double> values, const char* what) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            throw InputError(std::string(what) + " must be finite, but entry " + std::to_string(i) +
                             " is " + text_of(values[i]));
}

void check_weights(std::span<const double> weights, std::size_t rows) {
    if (weights.empty()) return;
    check_length(weights.size(), rows, "weights");
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (!(weights[i] >= 0))
            throw InputError("weights must not be negative or NaN, but the weight of row " +
                             std::to_string(i) + " is " + text_of(weights[i]));
        sum += weights[i];
    }
    if (!std::isfinite(sum))
        throw InputError("the sum of the weights is not finite; pass finite, smaller weights");
}

void check_between(double value, double least, double most, const char* what) {
    if (value >= least && value <= most) return;
    std::string range = least == kSmallest ? "above 0" : "at least " + text_of(least);
    if (most < kLargest) range += " and at most " + text_of(most);
    if (most == kLargest) range += " and finite";
    throw InputError(std::string(what) + " must be " + range + ", not " + text_of(value));
}

void check_columns(const bosquet::Ensemble& ensemble, std::size_t columns) {
    if (columns != ensemble.features)
        throw InputError("the model has " + std::to_string(ensemble.features) +
                         " features, but the data has " + std::to_string(columns) + " columns");
}
