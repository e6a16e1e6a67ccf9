// Steps of optimisers: neighbouring tensors with the same type and the same numbers share a launch.
#include "cuda/optim.h"

#include <algorithm>
#include <cstring>

#include "core/tensor.h"
#include "cuda/device/optim_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::OptimTensor;

// The kernel of a rule of scalar/optim.h; a rule may have several forms.
#define FB_STEP_KERNEL(Numbers) \
  TypedKernel("optim.cuh", "optim_step", "StepArguments<kernel::" #Numbers ">")

TypedKernel sgd_kernel = FB_STEP_KERNEL(SgdNumbers);
TypedKernel adam_kernel = FB_STEP_KERNEL(AdamNumbers);
TypedKernel adamax_kernel = FB_STEP_KERNEL(AdamaxNumbers);
TypedKernel nadam_kernel = FB_STEP_KERNEL(NAdamNumbers);
TypedKernel radam_kernel = FB_STEP_KERNEL(RAdamNumbers);
TypedKernel rmsprop_kernel = FB_STEP_KERNEL(RmspropNumbers);
TypedKernel adagrad_kernel = FB_STEP_KERNEL(AdagradNumbers);
TypedKernel adadelta_kernel = FB_STEP_KERNEL(AdadeltaNumbers);
TypedKernel rprop_kernel = FB_STEP_KERNEL(RpropNumbers);
TypedKernel asgd_kernel = FB_STEP_KERNEL(AsgdNumbers);
TypedKernel average_kernel = FB_STEP_KERNEL(AverageNumbers);
TypedKernel adam_row_kernel("optim.cuh", "step_row_element",
                            "RowStepArguments<kernel::AdamRowNumbers>");
TypedKernel adagrad_row_kernel("optim.cuh", "step_row_element",
                               "RowStepArguments<kernel::AdagradRowNumbers>");
TypedKernel unscale_kernel("optim.cuh", "unscale_piece", "UnscaleArguments");
TypedKernel scale_kernel("optim.cuh", "update_scale", "ScaleArguments");
TypedKernel squares_kernel("optim.cuh", "adafactor_squares", "AdafactorArguments");
TypedKernel row_kernel("optim.cuh", "adafactor_row", "AdafactorArguments");
TypedKernel columns_kernel("optim.cuh", "adafactor_columns", "AdafactorArguments");
TypedKernel update_squares_kernel("optim.cuh", "adafactor_update_squares", "AdafactorArguments");
TypedKernel apply_kernel("optim.cuh", "adafactor_apply", "AdafactorArguments");

// Whether two tensors can be stepped by one kernel with numbers of this size.
bool alike(const OptimTensor& a, const OptimTensor& b, size_t numbers) {
  if (a.dtype != b.dtype || place_of(a.param) != place_of(b.param)) return false;
  for (int k = 0; k < kernel::kOptimStates; ++k)
    if ((a.state[k] == nullptr) != (b.state[k] == nullptr)) return false;
  return a.numbers == b.numbers || std::memcmp(a.numbers, b.numbers, numbers) == 0;
}

// run(first tensor, arguments) for as many neighbours as fit into a launch, which the arguments
// list. The other members are for `run` to set, and places of the list that nobody reads stay as
// they are.
template <class Arguments, class Run>
void by_launches(std::span<const OptimTensor> tensors, size_t numbers, Run run) {
  Arguments arguments;
  device::OptimTensors& collected = arguments.tensors;
  for (size_t begin = 0; begin < tensors.size();) {
    collected.count = 0;
    collected.pieces_before[0] = 0;
    size_t end = begin;
    for (; end < tensors.size() && collected.count < device::kOptimTensors &&
           alike(tensors[begin], tensors[end], numbers);
         ++end) {
      const OptimTensor& t = tensors[end];
      if (t.n == 0) continue;
      const int at = collected.count++;
      collected.n[at] = t.n;
      collected.param[at] = t.param;
      collected.grad[at] = t.grad;
      for (int s = 0; s < kernel::kOptimStates; ++s) collected.states[s][at] = t.state[s];
      collected.pieces_before[at + 1] =
          collected.pieces_before[at] + (t.n + device::kOptimPiece - 1) / device::kOptimPiece;
    }
    if (collected.count) run(tensors[begin], arguments);
    begin = end;
  }
}

unsigned blocks_of(const device::OptimTensors& tensors) {
  return static_cast<unsigned>(tensors.pieces_before[tensors.count]);
}

// form(tensor) is the number of the rule's form for tensors like that one, whose names are given.
template <class Numbers, class Form>
void step(TypedKernel& kernel, std::span<const OptimTensor> tensors,
          std::initializer_list<const char*> names, Form form) {
  using Arguments = device::StepArguments<Numbers>;
  by_launches<Arguments>(tensors, sizeof(Numbers), [&](const OptimTensor& like, Arguments& args) {
    const int device = place_of(like.param);
    use(device);
    const int number = form(like);
    args.numbers = *static_cast<const Numbers*>(like.numbers);
    launch(device, kernel.on(device, like.dtype, number, names.begin()[number]),
           {blocks_of(args.tensors)}, 256, args);
  });
}

template <class Numbers>
void step(TypedKernel& kernel, std::span<const OptimTensor> tensors, const char* name) {
  step<Numbers>(kernel, tensors, {name}, [](const OptimTensor&) { return 0; });
}

template <class Numbers>
void step_rows(TypedKernel& kernel, const char* rule, const kernel::StepRows& on,
               const Numbers& numbers) {
  const int64_t n = on.count * on.width;
  if (n == 0) return;
  const int device = place_of(on.parameter);
  use(device);
  launch(device, kernel.on(device, on.dtype, 0, rule), {blocks_for(n, 256)}, 256,
         device::RowStepArguments<Numbers>{reinterpret_cast<const long long*>(on.rows),
                                           on.gradients,
                                           on.parameter,
                                           {on.states[0], on.states[1]},
                                           n,
                                           on.width,
                                           numbers});
}

}  // namespace

void optim_sgd(std::span<const OptimTensor> tensors) {
  step<kernel::SgdNumbers>(sgd_kernel, tensors,
                           {"scalar::optim::PlainSgd", "scalar::optim::MomentumSgd"},
                           [](const OptimTensor& t) { return t.state[0] ? 1 : 0; });
}

void optim_adam(std::span<const OptimTensor> tensors) {
  step<kernel::AdamNumbers>(
      adam_kernel, tensors,
      {"scalar::optim::AdamOf<false>::Rule", "scalar::optim::AdamOf<true>::Rule"},
      [](const OptimTensor& t) { return t.state[2] ? 1 : 0; });
}

void optim_adamax(std::span<const OptimTensor> tensors) {
  step<kernel::AdamaxNumbers>(adamax_kernel, tensors, "scalar::optim::Adamax");
}

void optim_nadam(std::span<const OptimTensor> tensors) {
  step<kernel::NAdamNumbers>(nadam_kernel, tensors, "scalar::optim::NAdam");
}

void optim_radam(std::span<const OptimTensor> tensors) {
  step<kernel::RAdamNumbers>(radam_kernel, tensors, "scalar::optim::RAdam");
}

void optim_rmsprop(std::span<const OptimTensor> tensors) {
  step<kernel::RmspropNumbers>(
      rmsprop_kernel, tensors,
      {"scalar::optim::RmspropOf<false, false>::Rule",
       "scalar::optim::RmspropOf<true, false>::Rule", "scalar::optim::RmspropOf<false, true>::Rule",
       "scalar::optim::RmspropOf<true, true>::Rule"},
      [](const OptimTensor& t) { return (t.state[1] ? 1 : 0) + (t.state[2] ? 2 : 0); });
}

void optim_adagrad(std::span<const OptimTensor> tensors) {
  step<kernel::AdagradNumbers>(adagrad_kernel, tensors, "scalar::optim::Adagrad");
}

void optim_adadelta(std::span<const OptimTensor> tensors) {
  step<kernel::AdadeltaNumbers>(adadelta_kernel, tensors, "scalar::optim::Adadelta");
}

void optim_rprop(std::span<const OptimTensor> tensors) {
  step<kernel::RpropNumbers>(rprop_kernel, tensors, "scalar::optim::Rprop");
}

void optim_asgd(std::span<const OptimTensor> tensors) {
  step<kernel::AsgdNumbers>(asgd_kernel, tensors, "scalar::optim::Asgd");
}

void optim_average(std::span<const OptimTensor> tensors) {
  step<kernel::AverageNumbers>(average_kernel, tensors, "scalar::optim::Mix");
}

void step_adam_rows(const kernel::StepRows& on, const kernel::AdamRowNumbers& numbers) {
  step_rows(adam_row_kernel, "scalar::optim::AdamRow", on, numbers);
}

void step_adagrad_rows(const kernel::StepRows& on, const kernel::AdagradRowNumbers& numbers) {
  step_rows(adagrad_row_kernel, "scalar::optim::AdagradRow", on, numbers);
}

void unscale(std::span<const OptimTensor> tensors, const float* factor, float* found_inf) {
  using Arguments = device::UnscaleArguments;
  by_launches<Arguments>(tensors, 0, [&](const OptimTensor& like, Arguments& args) {
    const int device = place_of(like.param);
    use(device);
    args.factor = factor;
    args.found_inf = found_inf;
    launch(device, unscale_kernel.on(device, like.dtype), {blocks_of(args.tensors)}, 256, args);
  });
}

void update_scale(float* scale, int32_t* steps, const float* found_inf,
                  const kernel::ScaleNumbers& numbers) {
  const int device = place_of(scale);
  use(device);
  launch(device, scale_kernel.on(device, DType::kFloat32), {1}, 32,
         device::ScaleArguments{scale, steps, found_inf, numbers});
}

// Adds up without the host: a kernel writes the sums of its blocks, which the next kernel joins.
void adafactor_step(const kernel::AdafactorTensor& tensor,
                    const kernel::AdafactorNumbers& numbers) {
  const int64_t columns = tensor.count * tensor.cols;
  if (tensor.rows * columns == 0) return;
  const int device = place_of(tensor.param);
  const Device here(DeviceType::kCuda, static_cast<int8_t>(device));
  use(device);
  const Tensor sums = make_tensor({2, device::kAdafactorBlocks}, DType::kFloat64, here);
  const bool is_vector = tensor.row_var == nullptr;
  const Tensor scaled = make_tensor({is_vector ? 0 : columns}, tensor.dtype, here);
  device::AdafactorArguments args{};
  args.param = tensor.param, args.grad = tensor.grad;
  args.row_var = tensor.row_var, args.col_var = tensor.col_var;
  args.scaled = is_vector ? tensor.col_var : scaled.data();
  args.count = tensor.count, args.rows = tensor.rows, args.cols = tensor.cols;
  args.param_squares = sums.data_as<double>();
  args.update_squares = args.param_squares + device::kAdafactorBlocks;
  args.numbers = numbers;
  const int64_t n = tensor.rows * columns;
  args.blocks = static_cast<int>(std::clamp<int64_t>(n / 4096, 1, device::kAdafactorBlocks));
  const auto run = [&](TypedKernel& kernel, int64_t blocks) {
    launch(device, kernel.on(device, tensor.dtype), {static_cast<unsigned>(blocks)}, 256, args);
  };
  run(squares_kernel, args.blocks);
  if (!is_vector) {
    run(row_kernel, tensor.count * tensor.rows);
    run(columns_kernel, tensor.count * ((tensor.cols + 31) / 32));
    run(update_squares_kernel, args.blocks);
  }
  run(apply_kernel, (std::min<int64_t>(n, 1 << 20) + 1023) / 1024);
}

}  // namespace fb::cuda
