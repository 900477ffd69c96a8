// What the files of the binding share: types of arrays, checks, instruction sets, and who listens for Ctrl-C.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "kernels.hpp"
#include "parallel.hpp"
#include "source.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace vicinal;

void bind_anchors(nb::module_& m);
void bind_neighbors(nb::module_& m);
void bind_nearest_rows(nb::module_& m);
void bind_triplets(nb::module_& m);
void bind_walks(nb::module_& m);
void bind_latent(nb::module_& m);
void bind_alignment(nb::module_& m);
void bind_stumps(nb::module_& m);
void bind_pair_network(nb::module_& m);
void bind_linear(nb::module_& m);

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
    throw nb::import_error(
        (whence + "=" + name + " is not one of this machine's instruction sets: " + names + ".").c_str());
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

inline Number number_of(nb::dlpack::dtype type) {
    const std::pair<nb::dlpack::dtype, Number> known[] = {
        {nb::dtype<float>(), Number::f32},         {nb::dtype<double>(), Number::f64},
        {nb::dtype<std::int8_t>(), Number::i8},    {nb::dtype<std::int16_t>(), Number::i16},
        {nb::dtype<std::int32_t>(), Number::i32},  {nb::dtype<std::int64_t>(), Number::i64},
        {nb::dtype<std::uint8_t>(), Number::u8},   {nb::dtype<std::uint16_t>(), Number::u16},
        {nb::dtype<std::uint32_t>(), Number::u32}, {nb::dtype<std::uint64_t>(), Number::u64}};
    for (const auto& [dtype, number] : known) {
        if (dtype == type) return number;
    }
    throw nb::type_error("unsupported number type");
}

// A 2-D array, or the tuple (data, indices, indptr, n_columns) of a CSR matrix.
inline Matrix matrix_of(nb::handle object) {
    Matrix x;
    if (nb::isinstance<nb::tuple>(object)) {
        auto parts = nb::cast<nb::tuple>(object);
        auto data = nb::cast<AnyVector>(parts[0]), indices = nb::cast<AnyVector>(parts[1]);
        auto indptr = nb::cast<AnyVector>(parts[2]);
        require(indices.dtype() == indptr.dtype(), "indices and indptr must have the same dtype");
        require(indices.shape(0) == data.shape(0), "indices and data must have the same length");
        x.sparse = true;
        x.wide_indices = indices.dtype() == nb::dtype<std::int64_t>();
        require(x.wide_indices || indices.dtype() == nb::dtype<std::int32_t>(), "indices must be int32 or int64");
        x.data = data.data();
        x.indices = indices.data();
        x.indptr = indptr.data();
        x.type = number_of(data.dtype());
        x.n_rows = static_cast<std::int64_t>(indptr.shape(0)) - 1;
        x.n_columns = nb::cast<std::int64_t>(parts[3]);
    } else {
        auto array = nb::cast<AnyMatrix>(object);
        x.data = array.data();
        x.type = number_of(array.dtype());
        x.n_rows = array.shape(0);
        x.n_columns = array.shape(1);
        x.row_stride = array.stride(0);
        x.column_stride = array.stride(1);
    }
    return x;
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

// Two arrays of indices of one kind: f(typed indices, typed starts).
template <class F>
auto with_indices(const AnyVector& indices, const AnyVector& starts, F f) {
    require(indices.dtype() == starts.dtype(), "indices and starts must have the same dtype");
    if (indices.dtype() == nb::dtype<std::int64_t>()) {
        return f(static_cast<const std::int64_t*>(indices.data()), static_cast<const std::int64_t*>(starts.data()));
    }
    require(indices.dtype() == nb::dtype<std::int32_t>(), "indices must be int32 or int64");
    return f(static_cast<const std::int32_t*>(indices.data()), static_cast<const std::int32_t*>(starts.data()));
}

inline void check_nodes(const std::int32_t* nodes, std::size_t count, std::int64_t n_rows) {
    for (std::size_t e = 0; e < count; ++e) require(nodes[e] >= 0 && nodes[e] < n_rows, "a row is out of range");
}

// Calls f with typed pointers to the output arrays.
template <class F>
auto with_outputs(Output& columns, Output& values, F f) {
    require(columns.shape(0) == values.shape(0) && columns.shape(1) == values.shape(1), "outputs differ in shape");
    auto typed = [&](auto* value) {
        if (columns.dtype() == nb::dtype<std::int32_t>()) return f(static_cast<std::int32_t*>(columns.data()), value);
        require(columns.dtype() == nb::dtype<std::int64_t>(), "columns must be int32 or int64");
        return f(static_cast<std::int64_t*>(columns.data()), value);
    };
    if (values.dtype() == nb::dtype<float>()) return typed(static_cast<float*>(values.data()));
    require(values.dtype() == nb::dtype<double>(), "values must be float32 or float64");
    return typed(static_cast<double*>(values.data()));
}

// Ascending pointers from 0 to `length`, with at least one entry between any two.
inline void require_pointers(const Vector<std::int64_t>& pointers, std::size_t length, bool empty_allowed,
                             const char* message) {
    const std::size_t n = pointers.shape(0);
    require(n >= 2 && pointers.data()[0] == 0, message);
    require(pointers.data()[n - 1] == static_cast<std::int64_t>(length), message);
    for (std::size_t i = 1; i < n; ++i) {
        require(pointers.data()[i] - pointers.data()[i - 1] >= (empty_allowed ? 0 : 1), message);
    }
}

inline void require_below(const Vector<std::int32_t>& indices, std::int64_t limit, const char* message) {
    for (std::size_t i = 0; i < indices.shape(0); ++i) {
        require(indices.data()[i] >= 0 && indices.data()[i] < limit, message);
    }
}
