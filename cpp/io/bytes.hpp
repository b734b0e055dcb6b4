// Writes and reads numbers as bytes: little-endian on every machine, never reading past the end.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace bosquet {

class ByteWriter {
  public:
    void write_fixed32(std::uint32_t value) { write_fixed(value, 4); }
    void write_fixed64(std::uint64_t value) { write_fixed(value, 8); }
    void write_real32(float value) { write_fixed32(std::bit_cast<std::uint32_t>(value)); }
    void write_real64(double value) { write_fixed64(std::bit_cast<std::uint64_t>(value)); }
    // Seven bits per byte, lowest first; the highest bit is set if more bytes follow.
    void write_varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<std::uint8_t>(value | 0x80));
        out_.push_back(static_cast<std::uint8_t>(value));
    }
    void write_bytes(std::span<const std::uint8_t> bytes) {
        std::size_t at = out_.size();
        out_.resize(at + bytes.size());
        std::copy(bytes.begin(), bytes.end(), out_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    void put_fixed64(std::size_t at, std::uint64_t value) {
        for (int i = 0; i < 8; ++i) out_[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
    }

    std::size_t size() const { return out_.size(); }
    const std::vector<std::uint8_t>& written() const { return out_; }
    std::vector<std::uint8_t> take() { return std::move(out_); }

  private:
    void write_fixed(std::uint64_t value, int size) {
        for (int i = 0; i < size; ++i) out_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }

    std::vector<std::uint8_t> out_;
};

// Reads from the front. `what` names the item for the error message if the bytes end.
class ByteReader {
  public:
    explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    std::size_t remaining() const { return bytes_.size(); }

    std::span<const std::uint8_t> read_bytes(std::uint64_t count, const char* what) {
        if (count > bytes_.size())
            throw ModelFileError(std::string("the model file ends inside ") + what);
        auto front = bytes_.first(static_cast<std::size_t>(count));
        bytes_ = bytes_.subspan(static_cast<std::size_t>(count));
        return front;
    }
    std::uint32_t read_fixed32(const char* what) {
        return static_cast<std::uint32_t>(read_fixed(4, what));
    }
    std::uint64_t read_fixed64(const char* what) { return read_fixed(8, what); }
    float read_real32(const char* what) { return std::bit_cast<float>(read_fixed32(what)); }
    double read_real64(const char* what) { return std::bit_cast<double>(read_fixed64(what)); }

    // A number below `limit` in its shortest encoding.
    std::uint64_t read_varint(std::uint64_t limit, const char* what) {
        std::uint64_t value = 0;
        for (int shift = 0;; shift += 7) {
            std::uint8_t byte = read_bytes(1, what)[0];
            if (shift == 63 && byte > 1) reject(what, "is too large");
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte >= 0x80) continue;
            if (byte == 0 && shift > 0) reject(what, "is not encoded in its shortest form");
            break;
        }
        if (value >= limit) reject(what, "is out of range");
        return value;
    }

    // The number of items of at least `size` bytes each. It is at most what the remaining bytes can
    // hold, so that memory for the items can be allocated safely.
    std::size_t read_count(std::size_t size, const char* what) {
        std::uint64_t value = read_varint(~std::uint64_t{0}, what);
        if (value > bytes_.size() / size)
            reject(what, "is larger than the rest of the file can hold");
        return static_cast<std::size_t>(value);
    }

    [[noreturn]] static void reject(const char* what, const char* why) {
        throw ModelFileError(std::string("invalid model file: ") + what + ' ' + why);
    }

  private:
    std::uint64_t read_fixed(int size, const char* what) {
        auto from = read_bytes(static_cast<std::uint64_t>(size), what);
        std::uint64_t value = 0;
        for (int i = 0; i < size; ++i) value |= std::uint64_t{from[i]} << (8 * i);
        return value;
    }

    std::span<const std::uint8_t> bytes_;
};

}  // namespace bosquet
