// What a kernel tells the host about a bad number: see Note [Errors of kernels].
#pragma once

namespace fb::device {

enum class ErrorCode : int {
  kNone,
  kIndex,
  kOffset,
  kProbability,
  kRate,
  kWeight,
  kNoWeight,
  kOutsideOfUnit,
  kVariance,
};

struct ErrorRecord {
  int claimed;  // by the kernel that writes the rest
  int code;     // ErrorCode; written last
  int dimension;
  int site;  // of the launch: see cuda/device_error.h
  long long value, bound;
  double number;  // in place of a value that is whole
};

// Where a launch notes errors, and which launch it is.
struct ErrorSite {
  ErrorRecord* record;
  int site;
};

#if defined(__CUDACC__) || defined(FB_EMULATED)
__device__ inline void note_error(const ErrorSite& at, ErrorCode code, long long value = 0,
                                  long long bound = 0, int dimension = 0, double number = 0) {
  ErrorRecord* const record = at.record;
  // In the host's memory, where a GPU's exchange is not atomic for the host: one that fails may put
  // back what the host clears meanwhile. So only those exchange that see it free, and the many
  // others with bad numbers do not queue for it.
  if (*static_cast<volatile int*>(&record->claimed) != 0) return;
  if (atomicCAS_system(&record->claimed, 0, 1) != 0) return;
  record->value = value;
  record->bound = bound;
  record->dimension = dimension;
  record->site = at.site;
  record->number = number;
  __threadfence_system();
  *static_cast<volatile int*>(&record->code) = static_cast<int>(code);
}
__device__ inline void note_bad_index(const ErrorSite& at, long long value, long long bound,
                                      int dimension) {
  note_error(at, ErrorCode::kIndex, value, bound, dimension);
}
__device__ inline void note_bad_number(const ErrorSite& at, ErrorCode code, double number) {
  note_error(at, code, 0, 0, 0, number);
}
#endif

}  // namespace fb::device
