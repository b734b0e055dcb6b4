// Converts Python sequences to vectors; replaces nanobind/stl/vector.h.
//
// nanobind reads the entries of a list in place, and converting an entry may run Python code
// (`__float__`, `__index__`) that changes the list. Therefore lists are copied to tuples first.
#pragma once

#include <nanobind/stl/detail/nb_list.h>

#include <vector>

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

template <class Entry>
struct type_caster<std::vector<Entry>> : list_caster<std::vector<Entry>, Entry> {
    bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        object copy;
        if (PyList_CheckExact(source.ptr())) {
            copy = steal(PyList_AsTuple(source.ptr()));
            if (!copy.is_valid()) {
                PyErr_Clear();
                return false;
            }
            source = copy;
        }
        return list_caster<std::vector<Entry>, Entry>::from_python(source, flags, cleanup);
    }
};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)
