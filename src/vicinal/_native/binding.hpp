// What the files of the binding share: types of arrays, checks, instruction sets, and who listens for Ctrl-C.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "kernels.hpp"
#include "parallel.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace vicinal;

void bind_neighbors(nb::module_& m);

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Output = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline std::vector<std::string> available_sets() {
    std::vector<std::string> names;
    for (int i = 0; i < n_instruction_sets; ++i) {
        if (instruction_sets[i]->available()) names.push_back(instruction_sets[i]->name);
    }
    return names;
}

inline const InstructionSet& find_set(const std::string& name, const std::string& whence) {
    for (int i = 0; i < n_instruction_sets; ++i) {
        if (instruction_sets[i]->available() && (name.empty() || name == instruction_sets[i]->name)) {
            return *instruction_sets[i];
        }
    }
    std::string names;
    for (const auto& n : available_sets()) names += (names.empty() ? "" : ", ") + n;
    throw nb::import_error((whence + "=" + name + " is not one of this machine's instruction sets: " + names + ".").c_str());
}

inline const InstructionSet& chosen_set() {
    static const InstructionSet& set = [&]() -> const InstructionSet& {
        const char* wanted = std::getenv("VICINAL_ISA");
        return find_set(wanted ? wanted : "", "VICINAL_ISA");
    }();
    return set;
}

inline void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

// Listens for Ctrl-C and tells a callback, if there is one, which share of the work is done.
inline Interrupted listener(const nb::object& callback) {
    return [&callback](double share) {
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) return true;
        if (callback.is_none()) return false;
        PyObject* answer = PyObject_CallFunction(callback.ptr(), "d", share);
        Py_XDECREF(answer);
        return answer == nullptr;
    };
}
