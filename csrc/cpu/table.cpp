// The CPU's table of kernels.
#include "cpu/table.h"

#include "cpu/attention.h"
#include "cpu/cdist.h"
#include "cpu/check.h"
#include "cpu/conv.h"
#include "cpu/copy.h"
#include "cpu/create.h"
#include "cpu/ctc.h"
#include "cpu/embedding.h"
#include "cpu/fft.h"
#include "cpu/fold.h"
#include "cpu/gemm.h"
#include "cpu/histogram.h"
#include "cpu/index.h"
#include "cpu/linalg.h"
#include "cpu/loss.h"
#include "cpu/loss_classes.h"
#include "cpu/loss_margin.h"
#include "cpu/norm.h"
#include "cpu/optim.h"
#include "cpu/pair_distance.h"
#include "cpu/pixels.h"
#include "cpu/pointwise.h"
#include "cpu/pool.h"
#include "cpu/random.h"
#include "cpu/reduce.h"
#include "cpu/resample.h"
#include "cpu/resample_grid.h"
#include "cpu/resample_shuffle.h"
#include "cpu/rnn.h"
#include "cpu/scan.h"
#include "cpu/search.h"
#include "cpu/shape.h"
#include "cpu/softmax.h"
#include "cpu/sort.h"
#include "cpu/sparse.h"
#include "cpu/unique.h"
#include "cpu/vision.h"
#include "kernel/table.h"

namespace fb::cpu {
namespace {

#define FB_SLOT(name) table.name = name
#define FB_LEVEL(name) table.name = FB_KERNEL(name)

kernel::Table make_table() {
  kernel::Table table;
#include "cpu/slots.inc"
  return table;
}

}  // namespace

void register_kernels() {
  static const kernel::Table table = make_table();
  kernel::tables[static_cast<int>(DeviceType::kCpu)] = &table;
}

}  // namespace fb::cpu
