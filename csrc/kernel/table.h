// Where an operator meets its device: one table of kernels for each.
//
// csrc/ops calls kernel::of(tensor).reduce(...) and knows no device by name. The signature of a
// kernel, with its plan, is declared once, in the header of its family; a backend (csrc/cpu) fills
// a table with functions. A slot that it leaves empty raises "no kernel on DEVICE", to which the
// entry point adds the operator that the user called.
#pragma once

#include "kernel/attention.h"
#include "kernel/check.h"
#include "kernel/conv.h"
#include "kernel/copy.h"
#include "kernel/create.h"
#include "kernel/ctc.h"
#include "kernel/distance.h"
#include "kernel/embedding.h"
#include "kernel/fft.h"
#include "kernel/fold.h"
#include "kernel/gemm.h"
#include "kernel/histogram.h"
#include "kernel/index.h"
#include "kernel/linalg.h"
#include "kernel/loss.h"
#include "kernel/loss_classes.h"
#include "kernel/loss_margin.h"
#include "kernel/norm.h"
#include "kernel/optim.h"
#include "kernel/pixels.h"
#include "kernel/pointwise.h"
#include "kernel/pool.h"
#include "kernel/random.h"
#include "kernel/reduce.h"
#include "kernel/resample.h"
#include "kernel/resample_grid.h"
#include "kernel/resample_shuffle.h"
#include "kernel/rnn.h"
#include "kernel/scan.h"
#include "kernel/search.h"
#include "kernel/softmax.h"
#include "kernel/sort.h"
#include "kernel/sparse.h"
#include "kernel/unique.h"
#include "kernel/vision.h"

namespace fb::kernel {

struct Table : Attention,
               Check,
               Conv,
               Copy,
               Create,
               Ctc,
               Distance,
               Embedding,
               Fft,
               Fold,
               Gemm,
               Histogram,
               Index,
               Linalg,
               Loss,
               LossClasses,
               LossMargin,
               Norm,
               Optim,
               Pixels,
               Pointwise,
               Pool,
               Random,
               Reduce,
               Resample,
               ResampleGrid,
               ResampleShuffle,
               Rnn,
               Scan,
               Search,
               Softmax,
               Sort,
               Sparse,
               Unique,
               Vision {};

// By the type of device; null where nothing computes.
inline const Table* tables[kDeviceTypes] = {};

// Raises: tensors cannot be computed with on this device.
[[noreturn, gnu::cold]] void refuse(Device device);

inline const Table& of(Device device) {
  const Table* table = tables[static_cast<int>(device.type)];
  if (!table) [[unlikely]]
    refuse(device);
  return *table;
}
inline const Table& of(const Tensor& tensor) { return of(tensor.device()); }

// out[...] = in[...], also between devices: the one that is not the host copies.
inline void copy(const Tensor& out, const Tensor& in) {
  of(out.device() == kHost ? in : out).copy(out, in);
}

}  // namespace fb::kernel
