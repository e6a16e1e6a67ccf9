// The kernels and the memory of the device `cuda`.
#include "cuda/table.h"

#include "core/device_memory.h"
#include "core/streams.h"
#include "cuda/allocator.h"
#include "cuda/attention.h"
#include "cuda/check.h"
#include "cuda/context.h"
#include "cuda/conv.h"
#include "cuda/copy.h"
#include "cuda/create.h"
#include "cuda/ctc.h"
#include "cuda/distance.h"
#include "cuda/embedding.h"
#include "cuda/fft.h"
#include "cuda/fold.h"
#include "cuda/gemm.h"
#include "cuda/histogram.h"
#include "cuda/index.h"
#include "cuda/linalg.h"
#include "cuda/loss.h"
#include "cuda/loss_classes.h"
#include "cuda/loss_margin.h"
#include "cuda/norm.h"
#include "cuda/optim.h"
#include "cuda/pinned.h"
#include "cuda/pixels.h"
#include "cuda/pointwise.h"
#include "cuda/pool.h"
#include "cuda/random.h"
#include "cuda/reduce.h"
#include "cuda/resample.h"
#include "cuda/resample_grid.h"
#include "cuda/resample_shuffle.h"
#include "cuda/rnn.h"
#include "cuda/scan.h"
#include "cuda/search.h"
#include "cuda/softmax.h"
#include "cuda/sort.h"
#include "cuda/sparse.h"
#include "cuda/stream.h"
#include "cuda/unique.h"
#include "cuda/vision.h"
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

constexpr StreamHooks kStreams{
    [](Device device) -> void* { return current_stream(device.index); },
    [](Device device, void* stream) {
      set_current_stream(device.index, static_cast<Stream>(stream));
    },
    [](Device device, void* earlier, void* later) {
      order_streams(device.index, static_cast<Stream>(earlier), static_cast<Stream>(later));
    },
    [](const Tensor& tensor, void* stream) {
      use_on_stream(*tensor.storage().get(), static_cast<Stream>(stream));
    }};

}  // namespace

void register_device() {
  static const kernel::Table table = make_table();
  constexpr auto type = static_cast<int>(DeviceType::kCuda);
  kernel::tables[type] = &table;
  device_memory[type] = &kMemory;
  stream_hooks[type] = &kStreams;
  start_device[type] = start;
  is_page_locked = is_pinned;
}

}  // namespace fb::cuda
