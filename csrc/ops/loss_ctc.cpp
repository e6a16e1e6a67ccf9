// Connectionist temporal classification: sequences whose alignment with the target is not known.
#include <algorithm>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/loss.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/host.h"
#include "ops/loss_support.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

// The arguments as the kernels read them. 16-bit floats are computed in float32.
class Alignment {
 public:
  Alignment(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths,
            IntSpan target_lengths, int64_t blank) {
    const DType type = compute_type(log_probs.dtype());
    log_probs_ = contiguous(cast(log_probs, type));
    // They may be in the host's memory, as the lengths are.
    targets_ = on_device(contiguous(cast(targets, DType::kInt64)), log_probs.device());
    int64_t start = 0, longest = 0;
    for (size_t b = 0; b < target_lengths.size(); ++b) {
      const bool padded = targets.dim() == 2;
      starts_.push_back(padded ? static_cast<int64_t>(b) * targets.sizes()[1] : start);
      start += target_lengths[b];
      longest = std::max(longest, target_lengths[b]);
    }
    const IntSpan sizes = log_probs.sizes();
    call_ = {.dtype = type,
             .steps = sizes[0],
             .batch = sizes[1],
             .classes = sizes[2],
             .log_probs = log_probs_.data(),
             .targets = targets_.data_as<int64_t>(),
             .target_starts = starts_.data(),
             .target_lengths = target_lengths.data(),
             .input_lengths = input_lengths.data(),
             .blank = blank,
             .states = 2 * longest + 1};
  }

  const kernel::CtcCall& call() const { return call_; }

 private:
  Tensor log_probs_, targets_;
  std::vector<int64_t> starts_;
  kernel::CtcCall call_;
};

void check_lengths(IntSpan lengths, int64_t batch, int64_t most, const char* name) {
  FB_CHECK(static_cast<int64_t>(lengths.size()) == batch, name,
           " must be of size batch_size: expected ", batch, ", got ", lengths.size());
  for (const int64_t length : lengths) {
    FB_CHECK(length >= 0, "Expected ", name, " to have value at least 0, but got value ", length);
    FB_CHECK(length <= most, "Expected ", name, " to have value at most ", most, ", but got value ",
             length);
  }
}

void check_arguments(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths,
                     IntSpan target_lengths, int64_t blank) {
  FB_CHECK(log_probs.dim() == 3, "expected log_probs of shape (T, C) or (T, N, C), got ",
           log_probs.sizes());
  const int64_t batch = log_probs.sizes()[1], classes = log_probs.sizes()[2];
  FB_CHECK(blank >= 0 && blank < classes, "blank must be in label range: ", blank,
           " is not one of ", classes, " classes");
  check_lengths(input_lengths, batch, log_probs.sizes()[0], "input_lengths");
  FB_CHECK(targets.dim() == 1 || targets.dim() == 2,
           "expected targets one after the other or padded to one length, got shape ",
           targets.sizes());
  constexpr int64_t any_length = std::numeric_limits<int64_t>::max();
  check_lengths(target_lengths, batch, targets.dim() == 2 ? targets.sizes()[1] : any_length,
                "target_lengths");
  if (targets.dim() == 2) {
    FB_CHECK(targets.sizes()[0] == batch, "expected targets of ", batch, " sequences, got shape ",
             targets.sizes());
    return;
  }
  int64_t total = 0;
  for (const int64_t length : target_lengths) total += length;
  FB_CHECK(targets.numel() == total, "Expected tensor to have size ", total,
           " at dimension 0, but got size ", targets.numel(), " for targets");
}

Tensor ctc(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths,
           IntSpan target_lengths, int64_t blank, Reduction reduction, bool zero_infinity) {
  FB_CHECK(log_probs.numel() > 0, "log_probs tensor must not be empty");
  FB_CHECK_INDEX(log_probs.dim() >= 2, "expected log_probs of shape (T, C) or (T, N, C), got ",
                 log_probs.sizes());
  const bool batched = log_probs.dim() != 2;
  const Tensor sequences = batched ? log_probs : ops::unsqueeze(log_probs, 1);
  check_arguments(sequences, targets, input_lengths, target_lengths, blank);
  Tensor losses = std::get<0>(
      ops::_ctc_loss(sequences, targets, input_lengths, target_lengths, blank, zero_infinity));
  if (zero_infinity) losses = ops::where(ops::eq(losses, kInfinity), Operand(0.0), Operand(losses));
  if (reduction == Reduction::kMean) {
    Dims lengths;
    for (const int64_t length : target_lengths) lengths.push_back(std::max<int64_t>(length, 1));
    const Tensor whole = device_integers(lengths, losses.device());
    return reduced(ops::div(losses, cast(whole, losses.dtype())), reduction);
  }
  if (!batched) losses = ops::squeeze(losses, IntSpan{0});
  return reduced(losses, reduction);
}

// Lengths given as a tensor.
std::vector<int64_t> numbers_of(const Tensor& lengths, const char* name) {
  FB_CHECK(is_integral(lengths.dtype(), false), name, " must be integral, got ", lengths.dtype());
  FB_CHECK(!(lengths->flags & kBatched), "vmap: ", name, " must be the same for all samples");
  return host_integers(lengths);
}

}  // namespace

std::tuple<Tensor, Tensor> compute::_ctc_loss(const Tensor& log_probs, const Tensor& targets,
                                              IntSpan input_lengths, IntSpan target_lengths,
                                              int64_t blank, bool) {
  const Alignment alignment(log_probs, targets, input_lengths, target_lengths, blank);
  const kernel::CtcCall& call = alignment.call();
  const Tensor log_alpha =
      make_tensor({call.batch, call.steps, call.states}, call.dtype, log_probs.device());
  const Tensor losses = make_tensor({call.batch}, call.dtype, log_probs.device());
  kernel::of(losses).ctc_forward(call, log_alpha.data(), losses.data());
  return {cast(losses, log_probs.dtype()), log_alpha};
}

Tensor compute::_ctc_loss_backward(const Tensor& gradient, const Tensor& log_probs,
                                   const Tensor& targets, IntSpan input_lengths,
                                   IntSpan target_lengths, const Tensor& output,
                                   const Tensor& log_alpha, int64_t blank, bool zero_infinity) {
  const Alignment alignment(log_probs, targets, input_lengths, target_lengths, blank);
  const kernel::CtcCall& call = alignment.call();
  const Tensor g = contiguous(cast(gradient, call.dtype));
  const Tensor losses = contiguous(cast(output, call.dtype));
  const Tensor out = make_tensor(log_probs.sizes(), call.dtype, log_probs.device());
  kernel::of(out).ctc_backward(call, log_alpha.data(), losses.data(), g.data(), zero_infinity,
                               out.data());
  return cast(out, log_probs.dtype());
}

Tensor composed::nn_functional_ctc_loss(const Tensor& log_probs, const Tensor& targets,
                                        IntSpan input_lengths, IntSpan target_lengths,
                                        int64_t blank, const std::string& reduction,
                                        bool zero_infinity) {
  return ctc(log_probs, targets, input_lengths, target_lengths, blank,
             read_reduction(reduction, {}, {}), zero_infinity);
}

Tensor composed::nn_functional_ctc_loss(const Tensor& log_probs, const Tensor& targets,
                                        const Tensor& input_lengths, const Tensor& target_lengths,
                                        int64_t blank, const std::string& reduction,
                                        bool zero_infinity) {
  return ctc(log_probs, targets, numbers_of(input_lengths, "input_lengths"),
             numbers_of(target_lengths, "target_lengths"), blank, read_reduction(reduction, {}, {}),
             zero_infinity);
}

Tensor composed::numbered_ctc_loss(const Tensor& log_probs, const Tensor& targets,
                                   IntSpan input_lengths, IntSpan target_lengths, int64_t blank,
                                   int64_t reduction, bool zero_infinity) {
  return ctc(log_probs, targets, input_lengths, target_lengths, blank,
             numbered_reduction(reduction), zero_infinity);
}

Tensor composed::numbered_ctc_loss(const Tensor& log_probs, const Tensor& targets,
                                   const Tensor& input_lengths, const Tensor& target_lengths,
                                   int64_t blank, int64_t reduction, bool zero_infinity) {
  return ctc(log_probs, targets, numbers_of(input_lengths, "input_lengths"),
             numbers_of(target_lengths, "target_lengths"), blank, numbered_reduction(reduction),
             zero_infinity);
}

}  // namespace fb::ops
