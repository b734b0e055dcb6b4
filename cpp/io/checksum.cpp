#include "io/checksum.hpp"

#include <algorithm>
#include <array>

#include "base/interrupt.hpp"

namespace bosquet {

namespace {

constexpr std::uint64_t kPolynomial = 0xC96C5795D7870F42;  // ECMA-182, bits reversed
constexpr std::size_t kSlices = 8;
constexpr std::size_t kPartBytes = 1 << 20;  // between two checks for an interrupt

using Tables = std::array<std::array<std::uint64_t, 256>, kSlices>;

// tables[s][b]: the effect of byte b on the checksum after s more bytes.
constexpr Tables make_tables() {
    Tables tables{};
    for (std::uint64_t byte = 0; byte < 256; ++byte) {
        std::uint64_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kPolynomial : 0);
        tables[0][byte] = crc;
    }
    for (std::size_t slice = 1; slice < kSlices; ++slice)
        for (std::size_t byte = 0; byte < 256; ++byte) {
            std::uint64_t crc = tables[slice - 1][byte];
            tables[slice][byte] = crc >> 8 ^ tables[0][crc & 0xff];
        }
    return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint64_t checksum(std::span<const std::uint8_t> bytes, std::uint64_t before) {
    std::uint64_t crc = ~before;
    while (bytes.size() >= kSlices) {
        std::size_t part = std::min(bytes.size(), kPartBytes) / kSlices * kSlices;
        check_interrupt(part);
        // Eight bytes at a time: their lookups do not depend on each other.
        for (std::size_t offset = 0; offset < part; offset += kSlices) {
            std::uint64_t next = 0;
            for (std::size_t i = 0; i < kSlices; ++i)
                next ^= kTables[kSlices - 1 - i][(crc >> (8 * i) & 0xff) ^ bytes[offset + i]];
            crc = next;
        }
        bytes = bytes.subspan(part);
    }
    for (std::uint8_t byte : bytes) crc = crc >> 8 ^ kTables[0][(crc & 0xff) ^ byte];
    return ~crc;
}

}  // namespace bosquet
