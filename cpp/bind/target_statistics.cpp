#include "data/target_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/long_call.hpp"
#include "bind/vectors.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

using Numbers = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Keys = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<nb::numpy, float>;

constexpr std::size_t kMaxGroups = 1 << 20;

LevelGroup group_of(std::vector<std::uint32_t> columns, std::vector<std::uint32_t> levels) {
    if (columns.empty()) throw InputError("a group has no columns; it must have at least one");
    check_length(levels.size(), columns.size(), "levels", "column of the group");
    for (std::uint32_t column : columns) check_at_most(column, kMaxColumns, "columns");
    for (std::uint32_t count : levels) check_at_most(count, kMaxRows, "levels in a column");
    LevelGroup group{std::move(columns), std::move(levels)};
    if (group.keys() == 0)
        throw InputError("a group has more than 2**63 combinations of levels; use fewer columns");
    return group;
}

nb::tuple number_rows(nb::object data, std::vector<std::uint32_t> columns,
                      std::vector<std::uint32_t> levels) {
    OwnedTable table = table_of(data);
    check_at_most(table.rows, kMaxRows, "rows");
    LevelGroup group = group_of(std::move(columns), std::move(levels));
    for (std::uint32_t column : group.columns) check_index(column, table.columns.size(), "column");
    std::uint32_t* numbers;
    auto result = new_array<std::uint32_t>({table.rows}, &numbers);
    std::vector<std::uint64_t> keys;
    {
        LongCall call;
        keys = number_levels(table, group, numbers).keys();
        for (std::size_t row = 0; row < table.rows; ++row)
            if (numbers[row] == kUnknownLevel)
                throw InputError("row " + std::to_string(row) +
                                 " has a code that is not -1 or the number of a level");
    }
    return nb::make_tuple(result, to_array(keys));
}

// The arguments that the two functions of random folds share, checked.
struct FoldsCall {
    std::vector<Numbers> owned_numbers;
    std::vector<std::vector<std::uint32_t>> copies;
    std::vector<NumberedRows> groups;
    StatisticsTarget target;

    FoldsCall(const nb::list& numbers, const std::vector<std::size_t>& levels,
              const DoubleMatrix& values, const DoubleArray& weight, const DoubleArray& prior,
              double strength, std::size_t folds) {
        nb::tuple given(numbers);  // a copy: reading an entry may run Python code
        std::size_t rows = values.shape(1);
        check_at_most(rows, kMaxRows, "rows");
        check_at_most(given.size(), kMaxGroups, "groups");
        check_length(levels.size(), given.size(), "levels", "group");
        check_length(values.shape(0), prior.shape(0), "target", "prior");
        check_at_most(prior.shape(0), kMaxOutputs, "targets");
        check_weights({weight.data(), weight.shape(0)}, rows);
        check_finite({values.data(), values.size()}, "target");
        check_finite({prior.data(), prior.shape(0)}, "prior");
        check_between(strength, 0, kLargest, "strength");
        check_between(static_cast<double>(folds), 2, 1000, "folds");
        for (nb::handle item : given)
            owned_numbers.push_back(
                cast_to<Numbers>(item, "an entry of numbers", "a contiguous array of uint32"));
        for (std::size_t g = 0; g < owned_numbers.size(); ++g) {
            check_length(owned_numbers[g].shape(0), rows, "numbers");
            check_at_most(levels[g], rows, "levels in a group");
            // A copy, so that the numbers cannot change after the check.
            copies.emplace_back(owned_numbers[g].data(), owned_numbers[g].data() + rows);
            for (std::uint32_t number : copies.back()) check_index(number, levels[g], "level");
        }
        for (std::size_t g = 0; g < owned_numbers.size(); ++g)
            groups.push_back({copies[g], levels[g]});
        target = {rows,
                  {values.data(), values.size()},
                  {weight.data(), weight.shape(0)},
                  {prior.data(), prior.shape(0)},
                  strength};
    }
};

Floats held_out_statistics(const nb::list& numbers, const std::vector<std::size_t>& levels,
                           DoubleMatrix values, DoubleArray weight, DoubleArray prior,
                           double strength, std::size_t folds, std::uint64_t seed,
                           std::uint64_t version, int threads) {
    FoldsCall given(numbers, levels, values, weight, prior, strength, folds);
    std::size_t rows = given.target.rows, each = given.target.targets() + 1;
    float* out;
    Floats result = new_array<float>({given.groups.size() * each, rows}, &out);
    LongCall call;
    Team team(threads);
    auto parts = random_folds(rows, folds, seed, version);
    team.run(given.groups.size(), [&](std::size_t g, int) {
        held_out_means(given.groups[g], given.target, parts, out + g * each * rows);
    });
    return result;
}

nb::ndarray<nb::numpy, double> held_out_gains(const nb::list& numbers,
                                              const std::vector<std::size_t>& levels,
                                              DoubleMatrix values, DoubleArray weight,
                                              DoubleArray prior, double strength, std::size_t folds,
                                              std::uint64_t seed, std::uint64_t version,
                                              int threads) {
    FoldsCall given(numbers, levels, values, weight, prior, strength, folds);
    double* out;
    auto result = new_array<double>({given.groups.size()}, &out);
    LongCall call;
    Team team(threads);
    auto parts = random_folds(given.target.rows, folds, seed, version);
    team.run(given.groups.size(), [&](std::size_t g, int) {
        out[g] = held_out_gain(given.groups[g], given.target, parts);
    });
    return result;
}

TargetTables::Part part_of_tables(std::vector<std::uint32_t> columns,
                                  std::vector<std::uint32_t> levels, const Keys& keys,
                                  const Values& values, const Values& unknown) {
    LevelGroup group = group_of(std::move(columns), std::move(levels));
    std::vector<std::uint64_t> sorted(keys.data(), keys.data() + keys.shape(0));
    check_at_most(sorted.size(), kMaxRows, "keys");
    for (std::size_t i = 0; i < sorted.size(); ++i)
        if (sorted[i] >= group.keys() || (i > 0 && sorted[i] <= sorted[i - 1]))
            throw InputError(
                "keys must be ascending and identify combinations of levels of the group");
    check_length(values.shape(0), sorted.size(), "values", "key");
    check_length(unknown.shape(0), 1, "unknown", "group");
    check_length(unknown.shape(1), values.shape(1), "unknown", "column of values");
    check_at_most(values.shape(1), kMaxColumns, "columns");
    LevelIndex index(std::move(sorted));
    return {std::move(group),
            std::move(index),
            values.shape(1),
            {values.data(), values.data() + values.size()},
            {unknown.data(), unknown.data() + unknown.size()}};
}

TargetTables tables_of(const std::vector<std::vector<std::uint32_t>>& columns,
                       const std::vector<std::vector<std::uint32_t>>& levels, const nb::list& keys,
                       const nb::list& values, const nb::list& unknown) {
    nb::tuple key_list(keys), value_list(values), unknown_list(unknown);
    check_at_most(columns.size(), kMaxGroups, "groups");
    check_length(levels.size(), columns.size(), "levels", "group");
    check_length(key_list.size(), columns.size(), "keys", "group");
    check_length(value_list.size(), columns.size(), "values", "group");
    check_length(unknown_list.size(), columns.size(), "unknown", "group");
    std::vector<TargetTables::Part> parts;
    for (std::size_t g = 0; g < columns.size(); ++g)
        parts.push_back(part_of_tables(
            columns[g], levels[g],
            cast_to<Keys>(key_list[g], "an entry of keys", "a contiguous array of uint64"),
            cast_to<Values>(value_list[g], "an entry of values", "a contiguous float32 matrix"),
            cast_to<Values>(unknown_list[g], "an entry of unknown",
                            "a contiguous float32 matrix")));
    return TargetTables(std::move(parts));
}

Floats derive_columns(const TargetTables& tables, nb::object data, int threads) {
    OwnedTable table = table_of(data);
    check_at_most(table.rows, kMaxRows, "rows");
    if (tables.sources() > table.columns.size())
        throw InputError("data has " + std::to_string(table.columns.size()) +
                         " columns, but the groups refer to " + std::to_string(tables.sources()));
    float* out;
    Floats result = new_array<float>({tables.columns(), table.rows}, &out);
    LongCall call;
    Team team(table.rows < kBlockRows ? 1 : threads);
    tables.derive(table, team, out);
    return result;
}

}  // namespace

void bind_target_statistics(nb::module_& module) {
    module.def("number_levels", number_rows, nb::arg("data"), nb::arg("columns"), nb::arg("levels"),
               "Number the combinations of levels of some columns that occur. Return the number of "
               "each row and the keys of the combinations, ascending.");
    module.def("held_out_statistics", held_out_statistics, nb::arg("numbers"), nb::arg("levels"),
               nb::arg("target"), nb::arg("weight"), nb::arg("prior"), nb::arg("strength"),
               nb::arg("folds"), nb::arg("seed"), nb::arg("version"), nb::arg("threads") = 1,
               "Return, for each group and row, the mean targets of the rows of the same level in "
               "other random folds, and their weight, shape (n_groups * (n_targets + 1), n_rows). "
               "The prior means count as rows of weight `strength`.");
    module.def("held_out_gains", held_out_gains, nb::arg("numbers"), nb::arg("levels"),
               nb::arg("target"), nb::arg("weight"), nb::arg("prior"), nb::arg("strength"),
               nb::arg("folds"), nb::arg("seed"), nb::arg("version"), nb::arg("threads") = 1,
               "Return how well these means of each group predict the target: the decrease of the "
               "squared error by the best multiple, divided by the variance of the target.");
    nb::class_<TargetTables>(module, "TargetTables",
                             "Tables of values by combination of levels, from which the columns of "
                             "new rows are derived.")
        .def(
            "__init__",
            [](TargetTables* self, const std::vector<std::vector<std::uint32_t>>& columns,
               const std::vector<std::vector<std::uint32_t>>& levels, const nb::list& keys,
               const nb::list& values, const nb::list& unknown) {
                new (self) TargetTables(tables_of(columns, levels, keys, values, unknown));
            },
            nb::arg("columns"), nb::arg("levels"), nb::arg("keys"), nb::arg("values"),
            nb::arg("unknown"))
        .def_prop_ro("n_columns", &TargetTables::columns)
        .def("derive", derive_columns, nb::arg("data"), nb::arg("threads") = 1,
             "Return the derived columns of the rows of a table, shape (n_columns, n_rows).");
}
