// Convolutions with kernels of one element over images whose channels are planes: matrix products
// as they stand.
#include "cpu/conv.h"
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

}  // namespace fb::cpu
