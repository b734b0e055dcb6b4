#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.hpp"
#include "bind/bindings.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

ColumnType type_of(nb::dlpack::dtype dtype) {
    using Code = nb::dlpack::dtype_code;
    auto code = static_cast<Code>(dtype.code);
    if (code == Code::Float && dtype.bits == 32) return ColumnType::f32;
    if (code == Code::Float && dtype.bits == 64) return ColumnType::f64;
    bool is_signed = code == Code::Int;
    if (is_signed || code == Code::UInt || code == Code::Bool) {
        switch (dtype.bits) {
            case 8:
                return is_signed ? ColumnType::i8 : ColumnType::u8;
            case 16:
                return is_signed ? ColumnType::i16 : ColumnType::u16;
            case 32:
                return is_signed ? ColumnType::i32 : ColumnType::u32;
            case 64:
                return is_signed ? ColumnType::i64 : ColumnType::u64;
        }
    }
    throw InputError("a column must hold 32- or 64-bit floats, integers or booleans");
}

Column column_of(const AnyArray& array, std::size_t axis_offset, std::size_t axis) {
    std::size_t item = array.itemsize();
    Column column;
    column.type = type_of(array.dtype());
    column.data =
        static_cast<const std::byte*>(array.data()) +
        static_cast<std::ptrdiff_t>(axis_offset * item) * (axis == 1 ? array.stride(1) : 1);
    column.stride = static_cast<std::ptrdiff_t>(item) * array.stride(0);
    return column;
}

}  // namespace

Table table_of(nb::handle data) {
    Table table;
    if (nb::isinstance<nb::list>(data)) {
        for (nb::handle item : nb::borrow<nb::list>(data)) {
            auto array = nb::cast<AnyArray>(item);
            if (array.ndim() != 1) throw InputError("a column must have one dimension");
            if (!table.columns.empty() && array.shape(0) != table.rows)
                throw InputError("columns must have the same length");
            table.rows = array.shape(0);
            table.columns.push_back(column_of(array, 0, 0));
        }
        return table;
    }
    auto matrix = nb::cast<AnyArray>(data);
    if (matrix.ndim() != 2) throw InputError("a matrix must have two dimensions");
    table.rows = matrix.shape(0);
    for (std::size_t f = 0; f < matrix.shape(1); ++f)
        table.columns.push_back(column_of(matrix, f, 1));
    return table;
}

void bind_data(nb::module_& module) {
    nb::class_<Bins>(module, "Bins", "What binning learned of each column.")
        .def_prop_ro("n_features", [](const Bins& self) { return self.features.size(); })
        .def(
            "edges",
            [](const Bins& self, std::size_t f) { return to_array(self.features.at(f).edges); },
            nb::arg("feature"), "Upper edges of the bins of a quantitative column.")
        .def(
            "n_bins", [](const Bins& self, std::size_t f) { return self.features.at(f).bins(); },
            nb::arg("feature"), "Number of bins, the one for missing values included.");

    module.def(
        "learn_bins",
        [](nb::object data, std::vector<std::uint32_t> categories, DoubleArray weights,
           int max_bins, std::size_t sample_rows, std::uint64_t seed, int threads) {
            Table table = table_of(data);
            if (max_bins < 2 || max_bins > 255) throw InputError("max_bins must be in 2..255");
            if (!categories.empty() && categories.size() != table.columns.size())
                throw InputError("categories must name every column");
            for (std::uint32_t levels : categories)
                if (levels > 65'535) throw InputError("at most 65535 levels a column");
            if (weights.shape(0) != 0 && weights.shape(0) != table.rows)
                throw InputError("weights must have one entry a row");
            Bins bins;
            nb::gil_scoped_release release;
            Team team(threads);
            bins.features = learn_bins(table, {weights.data(), weights.shape(0)}, categories,
                                       {max_bins, sample_rows, seed}, team);
            return bins;
        },
        nb::arg("data"), nb::arg("categories"), nb::arg("weights"), nb::arg("max_bins"),
        nb::arg("sample_rows"), nb::arg("seed"), nb::arg("threads"),
        "Learns where to cut each column of a matrix or a list of columns.");

    nb::class_<BinnedMatrix>(module, "BinnedMatrix", "A table in bins.")
        .def_prop_ro("n_rows", &BinnedMatrix::rows)
        .def(
            "bin",
            [](const BinnedMatrix& self, std::size_t feature, std::size_t row) {
                const FeaturePlace& place = self.layout().features.at(feature);
                if (row >= self.rows()) throw nb::index_error();
                return place.active ? self.bin(place, row) : 0;
            },
            nb::arg("feature"), nb::arg("row"), "The bin of one value; 0 is missing.");

    module.def(
        "bin_table",
        [](nb::object data, const Bins& bins, const std::string& isa, int threads) {
            Table table = table_of(data);
            if (table.columns.size() != bins.features.size())
                throw InputError("the table has another number of columns than the bins");
            if (table.rows > 0xffffffffu) throw InputError("at most 2^32 rows");
            Isa chosen = parse_isa(isa);
            nb::gil_scoped_release release;
            Team team(threads);
            return std::make_shared<BinnedMatrix>(table, bins.features, chosen, team);
        },
        nb::arg("data"), nb::arg("bins"), nb::arg("isa"), nb::arg("threads"),
        "Puts a table into bins.");
}
