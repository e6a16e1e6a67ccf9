// The kernels and the memory of the device `cuda`.
#include "cuda/table.h"

#include "core/device_memory.h"
#include "cuda/allocator.h"
#include "cuda/context.h"
#include "cuda/copy.h"
#include "cuda/create.h"
#include "cuda/gemm.h"
#include "cuda/index.h"
#include "cuda/loss_classes.h"
#include "cuda/optim.h"
#include "cuda/pinned.h"
#include "cuda/pointwise.h"
#include "cuda/reduce.h"
#include "cuda/softmax.h"
#include "kernel/table.h"

namespace fb::cuda {
namespace {

#define FB_SLOT(name) table.name = name

kernel::Table make_table() {
  kernel::Table table;
#include "cuda/slots.inc"
  return table;
}

int8_t current() { return static_cast<int8_t>(thread_state.device); }

constexpr DeviceMemory kMemory{allocate, copy_bytes_here, current};

}  // namespace

void register_device() {
  static const kernel::Table table = make_table();
  constexpr auto type = static_cast<int>(DeviceType::kCuda);
  kernel::tables[type] = &table;
  device_memory[type] = &kMemory;
  start_device[type] = start;
  is_page_locked = is_pinned;
}

}  // namespace fb::cuda
