// What a kernel tells the host about a bad number: see Note [Errors of kernels].
#pragma once

namespace fb::device {

enum class ErrorCode : int { kNone, kIndex };

struct ErrorRecord {
  int code;  // ErrorCode; written first, by whoever finds kNone there
  int dimension;
  long long value, bound;
};

#if defined(__CUDACC__) || defined(FB_EMULATED)
__device__ inline void note_bad_index(ErrorRecord* record, long long value, long long bound,
                                      int dimension) {
  if (atomicCAS_system(&record->code, 0, static_cast<int>(ErrorCode::kIndex)) != 0) return;
  record->value = value;
  record->bound = bound;
  record->dimension = dimension;
}
#endif

}  // namespace fb::device
