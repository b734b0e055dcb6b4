// Feeds changed model files, signed again, to the reader and to everything that uses what it
// returns. Made to be compiled with sanitizers, for the instruction set of the compiler's flags:
//
//   g++ -std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -mavx2 \
//       -DBOSQUET_ISA=baseline -Icpp tests/io/fuzz_reader.cpp \
//       $(find cpp/base cpp/parallel cpp/data cpp/trees cpp/io -name '*.cpp') -pthread -o
//       fuzz_reader
//   ./fuzz_reader 100000 model_file...
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "io/checksum.hpp"
#include "io/model_file.hpp"
#include "trees/predict.hpp"
#include "trees/walk.hpp"

using namespace bosquet;

namespace {

using File = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

constexpr std::size_t kHeadBytes = 32;
constexpr std::size_t kRows = 1100;  // enough for a model to be compiled

void put(File& file, std::size_t at, std::uint64_t value) {
    for (int i = 0; i < 8; ++i) file[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

void sign(File& file) {
    std::span<const std::uint8_t> all(file);
    put(file, 16, file.size());
    put(file, 24, checksum(all.subspan(kHeadBytes), checksum(all.first(24))));
}

void mutate(File& file, const File& other, Random& random) {
    auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
    if (file.size() <= kHeadBytes) return;
    auto at =
        file.begin() + static_cast<std::ptrdiff_t>(kHeadBytes + below(file.size() - kHeadBytes));
    auto size = static_cast<std::ptrdiff_t>(
        std::min<std::size_t>(1 + below(16), static_cast<std::size_t>(file.end() - at)));
    const std::uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff};
    switch (below(7)) {
        case 0:
            *at ^= static_cast<std::uint8_t>(1u << below(8));
            break;
        case 1:
            *at = static_cast<std::uint8_t>(random());
            break;
        case 2:
            std::fill_n(at, size, edges[below(5)]);
            break;
        case 3:
            file.erase(at, at + size);
            break;
        case 4: {
            File again(at, at + size);
            file.insert(at, again.begin(), again.end());
            break;
        }
        case 5: {
            std::size_t from = below(other.size() - 16);
            std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(from), size, at);
            break;
        }
        default:
            file.erase(at, file.end());
    }
}

void require(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

void use(const ModelFile& model, Random& random) {
    const Ensemble& ensemble = model.ensemble;
    std::size_t features = ensemble.features, outputs = ensemble.outputs;
    std::vector<double> values(kRows * features + 1);
    for (double& value : values) {
        auto bits = random();
        value = static_cast<double>(bits % 4096) / 64 - 16;
        if (bits >> 60 == 0) value = std::numeric_limits<double>::quiet_NaN();
    }
    Table table{kRows, std::vector<Column>(features)};
    for (std::size_t f = 0; f < features; ++f)
        table.columns[f] = {reinterpret_cast<const std::byte*>(values.data() + f),
                            static_cast<std::ptrdiff_t>(features * sizeof(double)),
                            ColumnType::f64};
    PredictOptions options{0, ensemble.trees.size(), 2, Isa::baseline};
    std::vector<double> out(kRows * outputs);
    predict(ensemble, table, options, out.data());
    std::vector<std::int32_t> leaves(kRows * ensemble.trees.size());
    apply(ensemble, table, options, leaves.data());
    for (std::size_t i = 0; i < kRows; i += 37) {
        std::vector<double> plain = ensemble.base;
        for (std::size_t t = 0; t < ensemble.trees.size(); ++t) {
            std::uint32_t leaf = leaf_of(ensemble, ensemble.trees[t], values.data() + i * features);
            require(leaves[i * ensemble.trees.size() + t] == static_cast<std::int32_t>(leaf),
                    "a row is in two leaves");
            double* to = plain.data() + (ensemble.vector_leaves ? 0 : t % outputs);
            const Tree& tree = ensemble.trees[t];
            for (double value : ensemble.values_of(tree, tree.nodes[leaf])) *to++ += value;
        }
        for (std::size_t k = 0; k < outputs; ++k)
            require(plain[k] == out[i * outputs + k] || plain[k] != plain[k],
                    "two ways to predict disagree");
    }
    File again = write_model(ensemble, model.metadata);
    ModelFile second = read_model(again);
    require(write_model(second.ensemble, second.metadata) == again, "saving is not exact");
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) return 2;
    std::vector<File> files;
    for (int i = 2; i < count; ++i) {
        std::ifstream in(arguments[i], std::ios::binary);
        files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
        require(files.back().size() > kHeadBytes + 16, "a model file is needed");
    }
    Random random(1);
    long rejected = 0, accepted = 0, rounds = std::strtol(arguments[1], nullptr, 10);
    for (long i = 0; i < rounds; ++i) {
        File file = files[random() % files.size()];
        for (auto changes = 1 + random() % 4; changes > 0; --changes)
            mutate(file, files[random() % files.size()], random);
        sign(file);
        try {
            if (holds_parts(file)) {
                ModelParts found = read_parts(file);
                ++accepted;
                require(write_parts(found.parts, found.metadata) == file, "saving is not exact");
                continue;
            }
            ModelFile model = read_model(file);
            ++accepted;
            if (model.ensemble.features < 10'000) use(model, random);
        } catch (const ModelFileError&) {
            ++rejected;
        }
    }
    std::printf("%ld %ld\n", rejected, accepted);
}
