// Recurrent layers and cells.
#pragma once

#include "cuda/slots.h"
#include "kernel/rnn.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Rnn, rnn_layer_forward)
FB_DECLARE_CUDA(kernel::Rnn, rnn_layer_backward)
FB_DECLARE_CUDA(kernel::Rnn, rnn_cell_forward)
FB_DECLARE_CUDA(kernel::Rnn, rnn_cell_backward)
FB_DECLARE_CUDA(kernel::Rnn, rnn_order_gates)
FB_DECLARE_CUDA(kernel::Rnn, rnn_sum_rows)

}  // namespace fb::cuda
