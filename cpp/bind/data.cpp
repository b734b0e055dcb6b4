#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <tuple>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/long_call.hpp"
#include "bind/vectors.hpp"
#include "data/quantiles.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

ColumnType type_of(nb::dlpack::dtype dtype) {
    using Code = nb::dlpack::dtype_code;
    auto code = static_cast<Code>(dtype.code);
    if (dtype.lanes != 1)
        throw InputError("a column must hold scalars, not vectors of several numbers");
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
    throw InputError(
        "a column has an unsupported dtype; pass float32, float64, integers or booleans");
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

OwnedTable table_of(nb::handle data) {
    constexpr const char* kArray = "an array of numbers in the byte order of the machine";
    OwnedTable table;
    if (nb::isinstance<nb::list>(data)) {
        // A copy of the list: reading a column may run Python code that changes the list.
        nb::tuple columns(nb::borrow<nb::list>(data));
        check_at_most(columns.size(), kMaxColumns, "columns");
        for (nb::handle item : columns) {
            std::string number = std::to_string(table.columns.size());
            auto array = cast_to<AnyArray>(item, "column " + number, kArray);
            if (array.ndim() != 1)
                throw InputError("column " + number + " has " + std::to_string(array.ndim()) +
                                 " dimensions, but must have one");
            if (!table.columns.empty() && array.shape(0) != table.rows)
                throw InputError("columns must have the same length, but column " + number +
                                 " has " + std::to_string(array.shape(0)) +
                                 " rows and column 0 has " + std::to_string(table.rows));
            table.rows = array.shape(0);
            table.columns.push_back(column_of(array, 0, 0));
            table.arrays.push_back(std::move(array));
        }
        return table;
    }
    auto matrix = cast_to<AnyArray>(data, "data", kArray);
    if (matrix.ndim() != 2)
        throw InputError("data has " + std::to_string(matrix.ndim()) +
                         " dimensions, but must have two");
    check_at_most(matrix.shape(1), kMaxColumns, "columns");
    table.rows = matrix.shape(0);
    for (std::size_t f = 0; f < matrix.shape(1); ++f)
        table.columns.push_back(column_of(matrix, f, 1));
    table.arrays.push_back(std::move(matrix));
    return table;
}

namespace {

const FeatureBins& bins_of(const Bins& bins, std::size_t feature) {
    check_index(feature, bins.features.size(), "feature");
    return bins.features[feature];
}

Bins learn_from(nb::object data, std::vector<std::uint32_t> categories, DoubleArray weights,
                int max_bins, std::size_t sample_rows, std::uint64_t seed, int threads) {
    OwnedTable table = table_of(data);
    check_at_most(table.rows, kMaxRows, "rows");
    check_between(max_bins, 2, 255, "max_bins");
    if (!categories.empty())
        check_length(categories.size(), table.columns.size(), "categories", "column");
    for (std::uint32_t levels : categories)
        check_at_most(levels, kMaxCategories, "levels in a column");
    check_weights({weights.data(), weights.shape(0)}, table.rows);
    Bins bins;
    LongCall call;
    Team team(threads);
    bins.features = learn_bins(table, {weights.data(), weights.shape(0)}, categories,
                               {max_bins, sample_rows, seed}, team);
    return bins;
}

// One tuple per feature: its number of categories (-1 if it is quantitative), whether training rows
// were missing, its edges.
using BinsState = std::vector<std::tuple<std::int64_t, bool, std::vector<double>>>;

BinsState state_of(const Bins& bins) {
    BinsState state;
    for (const FeatureBins& feature : bins.features)
        state.emplace_back(feature.categorical ? std::int64_t{feature.categories} : -1,
                           feature.has_missing, feature.edges);
    return state;
}

Bins bins_from(const BinsState& state) {
    check_at_most(state.size(), kMaxColumns, "features");
    Bins bins;
    for (const auto& [categories, has_missing, edges] : state) {
        check_between(categories, -1, std::int64_t{kMaxCategories}, "the number of categories");
        check_at_most(edges.size(), categories < 0 ? 254 : 0, "edges of a feature");
        if (!std::is_sorted(edges.begin(), edges.end()) ||
            std::any_of(edges.begin(), edges.end(), [](double edge) { return std::isnan(edge); }))
            throw InputError("the edges of a feature must be in ascending order");
        FeatureBins feature;
        feature.categorical = categories >= 0;
        feature.categories = static_cast<std::uint32_t>(std::max<std::int64_t>(categories, 0));
        feature.has_missing = has_missing;
        feature.edges = edges;
        bins.features.push_back(std::move(feature));
    }
    return bins;
}

std::shared_ptr<BinnedMatrix> bin_values(nb::object data, const Bins& bins, const std::string& isa,
                                         int threads) {
    OwnedTable table = table_of(data);
    check_length(bins.features.size(), table.columns.size(), "bins", "column");
    check_at_most(table.rows, kMaxRows, "rows");
    Isa chosen = parse_isa(isa);
    LongCall call;
    Team team(threads);
    return std::make_shared<BinnedMatrix>(table, bins.features, chosen, team);
}

constexpr const char* kMatrix = "the matrix";

// A matrix whose rows are appended in batches. A call that appends is not interrupted by another.
class BinnedMatrixBuilder {
  public:
    BinnedMatrixBuilder(const Bins& bins, std::size_t rows, bool has_columns,
                        const std::string& folder, std::size_t max_column_copies)
        : bins_(bins) {
        check_at_most(rows, kMaxRows, "rows");
        matrix_ = std::make_shared<BinnedMatrix>(
            bins_.features, rows, BinStorage{has_columns, folder, max_column_copies});
    }

    void append(nb::object data, const std::string& isa, int threads) {
        InUse guard(in_use_, kMatrix);
        OwnedTable batch = table_of(data);
        check_length(bins_.features.size(), batch.columns.size(), "bins", "column");
        if (!matrix_) throw InputError("the matrix is finished; create another one");
        check_at_most(batch.rows, matrix_->rows() - matrix_->filled_rows(),
                      "rows in a batch, after which the matrix would be full");
        Isa chosen = parse_isa(isa);
        LongCall call;
        Team team(threads);
        matrix_->append(batch, bins_.features, chosen, team);
    }

    std::shared_ptr<BinnedMatrix> finish() {
        InUse guard(in_use_, kMatrix);
        if (!matrix_ || matrix_->filled_rows() != matrix_->rows())
            throw InputError("the matrix has " + std::to_string(filled_rows()) + " of " +
                             std::to_string(matrix_ ? matrix_->rows() : 0) +
                             " rows; append the other rows first");
        return std::move(matrix_);
    }

    std::size_t filled_rows() const { return matrix_ ? matrix_->filled_rows() : 0; }

  private:
    Bins bins_;
    std::shared_ptr<BinnedMatrix> matrix_;
    std::atomic<bool> in_use_ = false;
};

std::uint32_t bin_of(const BinnedMatrix& matrix, std::size_t feature, std::size_t row) {
    check_index(feature, matrix.layout().features.size(), "feature");
    check_index(row, matrix.rows(), "row");
    const FeaturePlace& place = matrix.layout().features[feature];
    return place.active ? matrix.bin(place, row) : 0;
}

}  // namespace

void bind_data(nb::module_& module) {
    nb::class_<Bins>(
        module, "Bins",
        "The bins of each column: edges of quantitative columns, categories of categorical ones.")
        .def_prop_ro("n_features", [](const Bins& self) { return self.features.size(); })
        .def(
            "edges",
            [](const Bins& self, std::size_t feature) {
                return to_array(bins_of(self, feature).edges);
            },
            nb::arg("feature"), "Return the upper edges of the bins of a quantitative column.")
        .def(
            "n_bins",
            [](const Bins& self, std::size_t feature) { return bins_of(self, feature).bins(); },
            nb::arg("feature"),
            "Return the number of bins of a feature, including the one for missing values.")
        .def("__getstate__", state_of)
        .def(
            "__setstate__",
            [](Bins& self, const BinsState& state) { new (&self) Bins(bins_from(state)); },
            nb::arg("state"));

    module.def("learn_bins", learn_from, nb::arg("data"), nb::arg("categories"), nb::arg("weights"),
               nb::arg("max_bins"), nb::arg("sample_rows"), nb::arg("seed"), nb::arg("threads"),
               "Learn the bins of each column of a matrix or of a list of columns.");

    module.def(
        "sample_run",
        [](std::uint64_t first, std::uint64_t rows, std::uint64_t all_rows, std::size_t limit,
           std::uint64_t seed) {
            check_at_most(all_rows, kMaxRows, "rows");
            check_at_most(first, all_rows, "rows before the run");
            check_at_most(rows, all_rows - first, "rows of the run");
            return to_array(sample_run({first, first + rows}, all_rows, limit, seed));
        },
        nb::arg("first"), nb::arg("rows"), nb::arg("all_rows"), nb::arg("limit"), nb::arg("seed"),
        "Return which of the rows [first, first + rows) of `all_rows` rows belong to the sample "
        "from "
        "which bins are learned, counted from `first`.");

    nb::class_<BinnedMatrix>(module, "BinnedMatrix",
                             "A table whose values are replaced by the numbers of their bins.")
        .def_prop_ro("n_rows", &BinnedMatrix::rows)
        .def("bin", bin_of, nb::arg("feature"), nb::arg("row"),
             "Return the bin of one value; 0 is the bin of missing values.");

    module.def(
        "binned_bytes",
        [](const Bins& bins, std::size_t rows) {
            check_at_most(rows, kMaxRows, "rows");
            Layout with(bins.features, rows, true), without(bins.features, rows, false);
            return nb::make_tuple(without.tile_bytes + without.column_bytes,
                                  with.column_bytes - without.column_bytes);
        },
        nb::arg("bins"), nb::arg("rows"),
        "Return the bytes of a binned matrix without the copies of its features as columns, and "
        "the bytes of these copies.");

    nb::class_<BinnedMatrixBuilder>(module, "BinnedMatrixBuilder",
                                    "A binned matrix whose rows are appended in batches.")
        .def(
            nb::init<const Bins&, std::size_t, bool, const std::string&, std::size_t>(),
            nb::arg("bins"), nb::arg("rows"), nb::arg("has_columns"), nb::arg("folder"),
            nb::arg("max_column_copies") = 0,
            "`has_columns` is whether features are stored as columns too, which makes splits "
            "faster. If not, a fit may copy as many columns as `max_column_copies`. With a folder, "
            "the bins are in a temporary file there; with an empty string, in memory.")
        .def("append", &BinnedMatrixBuilder::append, nb::arg("data"), nb::arg("isa"),
             nb::arg("threads"), "Bin the next rows.")
        .def("finish", &BinnedMatrixBuilder::finish, "Return the matrix after its last row.")
        .def_prop_ro("filled_rows", &BinnedMatrixBuilder::filled_rows);

    module.def("bin_table", bin_values, nb::arg("data"), nb::arg("bins"), nb::arg("isa"),
               nb::arg("threads"), "Replace the values of a table by the numbers of their bins.");
}
