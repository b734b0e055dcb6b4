#include "experts/state.hpp"

#include <cmath>

#include "base/error.hpp"

namespace bosquet {

namespace {

// Above this value a double cannot represent every integer.
constexpr double kLargestCount = 0x1p53;

}  // namespace

void StateWriter::numbers(const std::string& name, std::vector<double>& values, double) {
    fields.emplace_back(name, values);
}

void StateWriter::number(const std::string& name, double& value, double) {
    fields.emplace_back(name, std::vector<double>{value});
}

void StateWriter::count(const std::string& name, std::uint64_t& value) {
    fields.emplace_back(name, std::vector<double>{static_cast<double>(value)});
}

const std::vector<double>& StateReader::take(const std::string& name, std::size_t size,
                                             double least) {
    for (const auto& [field, values] : fields_) {
        if (field != name) continue;
        if (values.size() != size)
            throw InputError("the state is invalid: field '" + name + "' has " +
                             std::to_string(values.size()) + " entries, but must have " +
                             std::to_string(size));
        for (double value : values)
            if (!std::isfinite(value) || value < least)
                throw InputError("the state is invalid: field '" + name +
                                 "' is not finite or below its minimum");
        ++read_;
        return values;
    }
    throw InputError("the state is invalid: field '" + name + "' is missing");
}

void StateReader::numbers(const std::string& name, std::vector<double>& values, double least) {
    values = take(name, values.size(), least);
}

void StateReader::number(const std::string& name, double& value, double least) {
    value = take(name, 1, least)[0];
}

void StateReader::count(const std::string& name, std::uint64_t& value) {
    double found = take(name, 1, 0)[0];
    if (found > kLargestCount || found != std::floor(found))
        throw InputError("the state is invalid: field '" + name +
                         "' is not a whole number below 2^53");
    value = static_cast<std::uint64_t>(found);
}

}  // namespace bosquet
