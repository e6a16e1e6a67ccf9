// Preparations for every call of OpenBLAS.
//
// Note [Buffers of OpenBLAS]: it keeps a buffer for each concurrent call. It maps a new one when
// there are more calls than ever before, and never returns it; if that fails, OpenBLAS ends the
// process. So a call that may need a new buffer first tries whether there is memory for it. The
// first buffer is made at once; for later ones it is unknown whether a call took one, only that
// there was memory when it began.
#if defined(FB_HAVE_OPENBLAS)

#include "cpu/openblas.h"

#include <sys/mman.h>

#include <atomic>
#include <mutex>

#include "core/error.h"

namespace fb::cpu {
namespace {

// 32 MiB in the versions for x86-64 and Arm, and what surrounds them.
constexpr size_t kBufferBytes = size_t{33} << 20;

std::atomic<int> running{0};
std::atomic<int> buffers{0};
std::mutex making;

bool has_memory() {
  void* address =
      mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return false;
  munmap(address, kBufferBytes);
  return true;
}

// Its own pool would compete with ours for the cores, and its results would depend on the
// number of threads; the callers divide the work instead. Any product takes a buffer.
void begin() {
  scipy_openblas_set_num_threads64_(1);
  double one = 1, sum = 0;
  scipy_cblas_dsyrk64_(CblasColMajor, CblasUpper, CblasNoTrans, 1, 1, 1.0, &one, 1, 0.0, &sum, 1);
}

void make_buffers(int count) {
  const std::lock_guard lock(making);
  if (count <= buffers) return;
  FB_CHECK_AS(ErrorKind::kOutOfMemory, has_memory(),
              "not enough memory: OpenBLAS needs a buffer of 32 MiB for each thread that calls it");
  if (buffers == 0) begin();
  buffers = count;
}

}  // namespace

OpenBlasCall::OpenBlasCall() {
  const int count = running.fetch_add(1, std::memory_order_relaxed) + 1;
  if (count <= buffers.load(std::memory_order_acquire)) [[likely]]
    return;
  try {
    make_buffers(count);
  } catch (...) {
    running.fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
}

OpenBlasCall::~OpenBlasCall() { running.fetch_sub(1, std::memory_order_relaxed); }

}  // namespace fb::cpu

#endif
