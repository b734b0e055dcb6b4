#include "base/temporary_file.hpp"

#include "base/error.hpp"

#if __has_include(<sys/mman.h>)

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace bosquet {

namespace {

// Closes the file at the end of a scope: a mapping does not need it.
struct OpenFile {
    int number;
    ~OpenFile() { close(number); }
};

[[noreturn]] void fail(const std::string& what, const std::string& folder, int code) {
    throw InputError(what + " in " + folder + ": " + std::strerror(code) +
                     "; pass a folder on a disk with enough space, or a larger memory_limit");
}

int reserve(int file, std::size_t bytes) {
#if defined(__linux__)
    return posix_fallocate(file, 0, static_cast<off_t>(bytes));
#else
    return ftruncate(file, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
#endif
}

}  // namespace

void* map_temporary_file(std::size_t bytes, const std::string& folder) {
    std::string path = folder + "/bosquet-XXXXXX";
    OpenFile file{mkstemp(path.data())};
    if (file.number < 0) fail("a temporary file cannot be created", folder, errno);
    unlink(path.c_str());
    if (int code = reserve(file.number, bytes))
        fail(std::to_string((bytes + 999'999) / 1'000'000) +
                 " MB for binned features cannot be reserved",
             folder, code);
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0);
    if (data == MAP_FAILED) fail("a temporary file cannot be mapped", folder, errno);
    return data;
}

void unmap_temporary_file(void* data, std::size_t bytes) { munmap(data, bytes); }

}  // namespace bosquet

#else

namespace bosquet {

void* map_temporary_file(std::size_t, const std::string&) {
    throw InputError(
        "binned features in a temporary file are not supported on this platform; pass a larger "
        "memory_limit");
}

void unmap_temporary_file(void*, std::size_t) {}

}  // namespace bosquet

#endif
