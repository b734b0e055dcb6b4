// The state of a rule, field by field. The same function writes and reads it, so that no field can
// be missing on one side.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace bosquet {

constexpr double kAnyNumber = -std::numeric_limits<double>::infinity();

class StateVisitor {
  public:
    virtual ~StateVisitor() = default;
    // As many finite numbers as the vector has, none smaller than `least`.
    virtual void numbers(const std::string& name, std::vector<double>& values,
                         double least = kAnyNumber) = 0;
    virtual void number(const std::string& name, double& value, double least = 0) = 0;
    virtual void count(const std::string& name, std::uint64_t& value) = 0;
};

// All fields as lists of numbers, in the order of visiting.
using StateFields = std::vector<std::pair<std::string, std::vector<double>>>;

class StateWriter final : public StateVisitor {
  public:
    void numbers(const std::string& name, std::vector<double>& values, double) override;
    void number(const std::string& name, double& value, double) override;
    void count(const std::string& name, std::uint64_t& value) override;
    StateFields fields;
};

// Throws InputError for a field that is missing, has another length or is out of range.
class StateReader final : public StateVisitor {
  public:
    explicit StateReader(const StateFields& fields) : fields_(fields) {}
    void numbers(const std::string& name, std::vector<double>& values, double least) override;
    void number(const std::string& name, double& value, double least) override;
    void count(const std::string& name, std::uint64_t& value) override;
    std::size_t fields_read() const { return read_; }

  private:
    const std::vector<double>& take(const std::string& name, std::size_t size, double least);

    const StateFields& fields_;
    std::size_t read_ = 0;
};

}  // namespace bosquet
