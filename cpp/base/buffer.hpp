// A large uninitialised array, on huge pages if the system offers them. Reading random rows of tens
// of megabytes on pages of 4 KB spends a quarter of the time in TLB misses. An array that may be
// larger than memory is kept in a temporary file instead.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/temporary_file.hpp"

namespace bosquet {

template <class T>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(std::size_t size) : size_(size) {
        std::size_t bytes = padded_bytes(size);
        std::size_t huge = std::size_t{2} << 20;
        std::size_t alignment = bytes >= 2 * huge ? huge : 64;
        bytes = (bytes + alignment - 1) / alignment * alignment;
        data_ = static_cast<T*>(std::aligned_alloc(alignment, bytes));
        if (data_ == nullptr) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (alignment == huge) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
    }
    // An array in a temporary file of this folder; in memory if the folder is empty.
    Buffer(std::size_t size, const std::string& folder) {
        if (folder.empty()) {
            *this = Buffer(size);
            return;
        }
        size_ = size;
        mapped_bytes_ = padded_bytes(size);
        data_ = static_cast<T*>(map_temporary_file(mapped_bytes_, folder));
    }
    Buffer(Buffer&& other) noexcept { *this = std::move(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(mapped_bytes_, other.mapped_bytes_);
        return *this;
    }
    ~Buffer() {
        if (mapped_bytes_ > 0)
            unmap_temporary_file(data_, mapped_bytes_);
        else
            std::free(data_);
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }

  private:
    // The extra bytes let kernels read a whole vector or prefetch past the last element.
    static std::size_t padded_bytes(std::size_t size) { return size * sizeof(T) + 256; }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t mapped_bytes_ = 0;  // of the temporary file; 0 in memory
};

}  // namespace bosquet
