// Declarations shared by the bindings. No other package of the core includes headers of Python or
// nanobind.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "data/binned.hpp"
#include "data/table.hpp"

void bind_data(nanobind::module_& module);
void bind_target_statistics(nanobind::module_& module);
void bind_losses(nanobind::module_& module);
void bind_trees(nanobind::module_& module);
void bind_parts(nanobind::module_& module);
void bind_boosting(nanobind::module_& module);
void bind_cart(nanobind::module_& module);
void bind_forest(nanobind::module_& module);
void bind_stump(nanobind::module_& module);
void bind_experts(nanobind::module_& module);
void bind_explain(nanobind::module_& module);
void bind_vision_features(nanobind::module_& module);
void bind_io(nanobind::module_& module);
void bind_vision_detect(nanobind::module_& module);

using DoubleArray =
    nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using DoubleMatrix =
    nanobind::ndarray<const double, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;

// The bytes of a Python object, read in place.
inline std::span<const std::uint8_t> bytes_of(const nanobind::bytes& bytes) {
    return {reinterpret_cast<const std::uint8_t*>(bytes.c_str()), bytes.size()};
}

// The bins of every column, as learn_bins returns them.
struct Bins {
    std::vector<bosquet::FeatureBins> features;
};

// A table that reads the caller's arrays (a matrix or a list of columns) in place and keeps them
// alive.
struct OwnedTable : bosquet::Table {
    std::vector<nanobind::ndarray<nanobind::ro, nanobind::device::cpu>> arrays;
};
OwnedTable table_of(nanobind::handle data);

// Returns a new NumPy array that owns its memory; `*data` points to its first element.
template <class T>
nanobind::ndarray<nanobind::numpy, T> new_array(std::vector<std::size_t> shape, T** data) {
    std::size_t size = 1;
    for (std::size_t extent : shape)
        if (__builtin_mul_overflow(size, extent, &size)) throw std::bad_alloc();
    *data = new T[size > 0 ? size : 1];
    nanobind::capsule owner(*data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nanobind::ndarray<nanobind::numpy, T>(*data, shape.size(), shape.data(), owner);
}

template <class T>
nanobind::ndarray<nanobind::numpy, T> to_array(const std::vector<T>& values) {
    T* data;
    auto array = new_array<T>({values.size()}, &data);
    std::copy(values.begin(), values.end(), data);
    return array;
}
