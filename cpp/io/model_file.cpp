#include "io/model_file.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "io/bytes.hpp"
#include "io/checksum.hpp"
#include "io/ensemble.hpp"

namespace bosquet {

namespace {

// A byte that does not occur in text, the name, and line ends that a transfer in text mode would
// change.
constexpr std::array<std::uint8_t, 8> kMagic = {0x89, 'B', 'S', 'Q', '\r', '\n', 0x1a, '\n'};
// Formats 1 to 3 were never released and are not supported.
constexpr std::uint32_t kVersion = 4;
constexpr std::size_t kLengthAt = 16;
constexpr std::size_t kChecksumAt = 24;
constexpr std::size_t kHeaderBytes = 32;

constexpr std::uint32_t tag(const char (&name)[5]) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(name[i]) << (8 * i);
    return value;
}
constexpr std::uint32_t kMetadata = tag("META");
constexpr std::uint32_t kEnsemble = tag("TREE");
constexpr std::uint32_t kPart = tag("PART");
constexpr const char* kCopyAgain = "; copy the file again or save the model again";

// The checksum of the whole file except the checksum itself.
std::uint64_t checksum_of(std::span<const std::uint8_t> file) {
    return checksum(file.subspan(kHeaderBytes), checksum(file.first(kChecksumAt)));
}

void check_header(std::span<const std::uint8_t> file) {
    ByteReader in(file);
    auto magic = in.read_bytes(std::min(kMagic.size(), file.size()), "its first bytes");
    if (!std::equal(magic.begin(), magic.end(), kMagic.begin()) || magic.empty())
        throw ModelFileError(
            "this is not a Bosquet model file: its first bytes differ; pass a file written by "
            "model.save, bosquet fit or bosquet study --save");
    if (file.size() < kHeaderBytes)
        throw ModelFileError("the model file has " + std::to_string(file.size()) +
                             " bytes, but its header alone has " + std::to_string(kHeaderBytes) +
                             kCopyAgain);
    std::uint32_t version = in.read_fixed32("the version");
    if (version > kVersion)
        throw ModelFileError(
            "the model file has format " + std::to_string(version) +
            ", but this version of Bosquet reads format " + std::to_string(kVersion) +
            "; the file was written by a newer version or is damaged; upgrade Bosquet "
            "or copy the file again");
    if (version < kVersion)
        throw ModelFileError("the model file has format " + std::to_string(version) +
                             ", which was never released; the file is damaged or from a "
                             "development version, so fit the model again and save it");
    if (in.read_fixed32("the header") != 0) ByteReader::reject("a reserved field", "is not zero");
    std::uint64_t length = in.read_fixed64("the length");
    if (length != file.size())
        throw ModelFileError("the model file has " + std::to_string(file.size()) +
                             " bytes, but its header gives " + std::to_string(length) + kCopyAgain);
    if (in.read_fixed64("the checksum") != checksum_of(file))
        throw ModelFileError(
            std::string("the model file is damaged: its checksum does not match its content") +
            kCopyAgain);
}

std::span<const std::uint8_t> read_section(ByteReader& in, std::uint32_t wanted, const char* what) {
    if (in.read_fixed32(what) != wanted) ByteReader::reject(what, "is missing or out of order");
    std::uint64_t length = in.read_fixed64(what);
    return in.read_bytes(length, what);
}

void write_section(ByteWriter& out, std::uint32_t name, Bytes bytes) {
    out.write_fixed32(name);
    out.write_fixed64(bytes.size());
    out.write_bytes(bytes);
}

// Writes the header and the metadata.
void begin_file(ByteWriter& out, Bytes metadata) {
    out.write_bytes(kMagic);
    out.write_fixed32(kVersion);
    out.write_fixed32(0);
    out.write_fixed64(0);  // length and checksum, filled in by end_file
    out.write_fixed64(0);
    write_section(out, kMetadata, metadata);
}

std::vector<std::uint8_t> end_file(ByteWriter& out) {
    out.put_fixed64(kLengthAt, out.size());
    out.put_fixed64(kChecksumAt, checksum_of(out.written()));
    return out.take();
}

}  // namespace

std::vector<std::uint8_t> write_model(const Ensemble& ensemble,
                                      std::span<const std::uint8_t> metadata) {
    ByteWriter out;
    begin_file(out, metadata);
    out.write_fixed32(kEnsemble);
    std::size_t length_at = out.size();
    out.write_fixed64(0);
    write_ensemble(ensemble, out);
    out.put_fixed64(length_at, out.size() - length_at - 8);
    return end_file(out);
}

ModelFile read_model(std::span<const std::uint8_t> file) {
    check_header(file);
    ByteReader in(file.subspan(kHeaderBytes));
    auto metadata = read_section(in, kMetadata, "the metadata section");
    auto ensemble = read_section(in, kEnsemble, "the ensemble section");
    if (in.remaining() != 0) ByteReader::reject("the last section", "is followed by more bytes");
    return {read_ensemble(ensemble), {metadata.begin(), metadata.end()}};
}

std::vector<std::uint8_t> write_parts(std::span<const Bytes> parts, Bytes metadata) {
    ByteWriter out;
    begin_file(out, metadata);
    for (Bytes part : parts) write_section(out, kPart, part);
    return end_file(out);
}

ModelParts read_parts(Bytes file) {
    check_header(file);
    ByteReader in(file.subspan(kHeaderBytes));
    ModelParts found;
    found.metadata = read_section(in, kMetadata, "the metadata section");
    while (in.remaining() != 0) found.parts.push_back(read_section(in, kPart, "a part"));
    return found;
}

bool holds_parts(Bytes file) {
    constexpr std::size_t kSectionHeaderBytes = 12;
    if (file.size() < kHeaderBytes + kSectionHeaderBytes) return false;
    ByteReader in(file.subspan(kHeaderBytes + 4));
    std::uint64_t length = in.read_fixed64("the metadata section");
    if (length > in.remaining() || in.remaining() - length < 4) return false;
    in.read_bytes(length, "the metadata section");
    return in.read_fixed32("a section") == kPart;
}

}  // namespace bosquet
