// A large uninitialised array, on huge pages if the system offers them. Reading random rows of tens
// of megabytes on pages of 4 KB spends a quarter of the time in TLB misses.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace bosquet {

template <class T>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(std::size_t size) : size_(size) {
        // The extra bytes let kernels read a whole vector or prefetch past the last element.
        std::size_t bytes = size * sizeof(T) + 256;
        std::size_t huge = std::size_t{2} << 20;
        std::size_t alignment = bytes >= 2 * huge ? huge : 64;
        bytes = (bytes + alignment - 1) / alignment * alignment;
        data_ = static_cast<T*>(std::aligned_alloc(alignment, bytes));
        if (data_ == nullptr) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (alignment == huge) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
    }
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Buffer() { std::free(data_); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace bosquet
