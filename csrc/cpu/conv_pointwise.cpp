// Convolutions with kernels of one element: plain matrix products.
#include "cpu/conv_impl.h"
#include "cpu/gemm.h"
#include "cpu/gemm_impl.h"

namespace fb::cpu {
namespace {

int64_t pixels(const ConvShape& s) { return s.out[0] * s.out[1] * s.out[2]; }

}  // namespace

void conv_pointwise(const ConvShape& s, const Tensor& in, const Tensor& weight, const Tensor& bias,
                    const Tensor& out) {
  const int64_t n = pixels(s);
  GemmCall call{out.dtype(), s.batch, s.out_channels, n, s.in_channels, {}, {}, {}};
  call.a = {weight.data(), s.in_channels};
  call.b = {in.data(), n, false, s.in_channels * n};
  call.c = {out.data(), n, s.out_channels * n};
  if (bias.defined()) fill_pixels(out, bias);
  call.accumulate = bias.defined();
  gemm(call);
}

void conv_pointwise_data(const ConvShape& s, const Tensor& out, const Tensor& weight,
                         const Tensor& bias, const Tensor& in) {
  const int64_t n = pixels(s);
  GemmCall call{in.dtype(), s.batch, s.in_channels, n, s.out_channels, {}, {}, {}};
  call.a = {weight.data(), s.in_channels, true};
  call.b = {out.data(), n, false, s.out_channels * n};
  call.c = {in.data(), n, s.in_channels * n};
  if (bias.defined()) fill_pixels(in, bias);
  call.accumulate = bias.defined();
  gemm(call);
}

void conv_pointwise_weight(const ConvShape& s, const Tensor& in, const Tensor& out,
                           const Tensor& weight) {
  const int64_t n = pixels(s);
  const DType dtype = weight.dtype();
  for (int64_t sample = 0; sample < s.batch; ++sample) {
    GemmCall call{dtype, 1, s.out_channels, s.in_channels, n, {}, {}, {}};
    call.a = {element_at(out.data(), sample * s.out_channels * n, dtype), n};
    call.b = {element_at(in.data(), sample * s.in_channels * n, dtype), n, true};
    call.c = {weight.data(), s.in_channels};
    call.accumulate = sample > 0;
    gemm(call);
  }
}

bool conv_pixels_takes(const ConvShape& s, DType dtype) {
  // Measured: with fewer, oneDNN's own kernels are faster.
  constexpr int64_t kLeastChannels = 32;
  return dtype == DType::kFloat32 && s.is_pointwise() && s.in_channels >= kLeastChannels &&
         s.out_channels >= kLeastChannels;
}

void conv_backward_weight_pixels(const ConvShape& s, const Tensor& in, const Tensor& out,
                                 const Tensor& weight) {
  GemmCall call{weight.dtype(), 1, s.out_channels, s.in_channels, s.batch * pixels(s), {}, {}, {}};
  call.a = {out.data(), s.out_channels, true};
  call.b = {in.data(), s.in_channels};
  call.c = {weight.data(), s.in_channels};
  gemm(call);
}

}  // namespace fb::cpu
