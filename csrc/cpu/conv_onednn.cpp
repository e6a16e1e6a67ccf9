// Convolutions by oneDNN's primitives: images channels last, weights in whatever order a primitive
// likes best.
#if defined(FB_HAVE_ONEDNN)

#include <atomic>
#include <memory>

#include "core/allocator.h"
#include "core/layout.h"
#include "cpu/conv_impl.h"
#include "cpu/deterministic.h"
#include "cpu/gemm_impl.h"
#include "cpu/onednn.h"
#include "cpu/packed.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// A primitive is made for exact sizes and layouts, and for a number of threads.
struct ConvKey {
  ConvShape shape;
  ConvPass pass;
  int64_t dtype, has_bias, weight_last, threads;

  bool operator==(const ConvKey&) const = default;
};

// Sizes and the like with as many spatial dimensions as are not trivial.
struct Geometry {
  Dims in, out, weight, weight_strides;
  Dims stride, dilation, padding, padding_end;
  bool fits = true;  // oneDNN refuses images that end long after their last window

  Geometry(const ConvShape& s, bool weight_last) {
    const size_t skipped = first_dimension(s);
    in = {s.batch, s.in_channels};
    out = {s.batch, s.out_channels};
    Dims kernel{s.out_channels, s.group_in()};
    for (size_t d = skipped; d < 3; ++d) {
      in.push_back(s.in[d]);
      out.push_back(s.out[d]);
      kernel.push_back(s.kernel[d]);
      stride.push_back(s.stride[d]);
      dilation.push_back(s.dilation[d] - 1);
      padding.push_back(s.padding[d]);
      padding_end.push_back(end_padding(s, d));
      fits &= padding_end.back() >= 0;
    }
    weight = kernel;
    weight_strides = weight_last ? channels_last_strides(kernel) : contiguous_strides(kernel);
    if (s.groups > 1) {
      weight[0] = s.group_out();
      weight.insert(0, s.groups);
      weight_strides.insert(0, s.group_out() * weight_strides[0]);
    }
  }

 private:
  static size_t first_dimension(const ConvShape& s) {
    size_t d = 0;
    while (d < 2 && s.in[d] == 1 && s.kernel[d] == 1 && s.out[d] == 1 && s.padding[d] == 0) ++d;
    return d;
  }
  // The same padding on both sides where that gives as many windows, else what the last one needs.
  static int64_t end_padding(const ConvShape& s, size_t d) {
    const int64_t span = (s.kernel[d] - 1) * s.dilation[d] + 1;
    const int64_t windows = (s.in[d] + 2 * s.padding[d] - span) / s.stride[d] + 1;
    if (windows == s.out[d]) return s.padding[d];
    return (s.out[d] - 1) * s.stride[d] + span - s.in[d] - s.padding[d];
  }
};

dnnl_primitive_desc_t describe_forward(const Geometry& g, const_dnnl_memory_desc_t in,
                                       const_dnnl_memory_desc_t weight,
                                       const_dnnl_memory_desc_t bias,
                                       const_dnnl_memory_desc_t out) {
  dnnl_primitive_desc_t description = nullptr;
  onednn_check(dnnl_convolution_forward_primitive_desc_create(
                   &description, onednn_engine(), dnnl_forward_training, dnnl_convolution_direct,
                   in, weight, bias, out, g.stride.data(), g.dilation.data(), g.padding.data(),
                   g.padding_end.data(), nullptr),
               "dnnl_convolution_forward_primitive_desc_create");
  return description;
}

// A primitive, and another one that brings the weight into its order or back.
class Convolution {
 public:
  explicit Convolution(const ConvKey& key) : pass_(key.pass), number_(next_number()) {
    const Geometry g(key.shape, key.weight_last);
    const DType dtype = static_cast<DType>(key.dtype);
    const OneDnnLayout in = onednn_strided(dtype, g.in, channels_last_strides(g.in));
    const OneDnnLayout out = onednn_strided(dtype, g.out, channels_last_strides(g.out));
    if (key.pass == ConvPass::kBackwardData && key.has_bias) {
      make_transposed(g, dtype, in.get(), out.get());
    } else if (key.pass == ConvPass::kForward) {
      make_forward(g, dtype, in.get(), out.get(), key.has_bias);
    } else {
      make_backward(g, dtype, in.get(), out.get());
    }
  }

  // `weight` is written by kBackwardWeight and read by the others.
  void run(const void* from, const Tensor& weight, const void* bias, const void* to) const {
    if (!repack_) return run_product(from, weight.data(), bias, to);
    if (pass_ == ConvPass::kBackwardWeight) {
      const Storage packed = allocate_cpu(packed_bytes_);
      run_product(from, packed->data, bias, to);
      repack_->run({packed->data, weight.data()});
    } else {
      const Storage packed =
          packed_weight(weight, {number_, 0, 0}, packed_bytes_,
                        [&](void* packed) { repack_->run({weight.data(), packed}); });
      run_product(from, packed->data, bias, to);
    }
  }

 private:
  void run_product(const void* from, const void* weight, const void* bias, const void* to) const {
    if (bias)
      product_->run({from, weight, to, bias});
    else
      product_->run({from, weight, to});
  }

  void make_forward(const Geometry& g, DType dtype, const_dnnl_memory_desc_t in,
                    const_dnnl_memory_desc_t out, bool has_bias) {
    const OneDnnLayout weight = onednn_any(dtype, g.weight);
    const OneDnnLayout bias = has_bias ? vector(dtype, g.out[1]) : nullptr;
    const auto description = describe_forward(g, in, weight.get(), bias.get(), out);
    use_weight(description, dnnl_query_weights_md, dtype, g.weight, g.weight_strides);
    make_product(description, {DNNL_ARG_SRC, in}, DNNL_ARG_WEIGHTS, {DNNL_ARG_DST, out},
                 bias.get());
  }

  // A transposed convolution: the channels of `in` are the ones that come out.
  void make_transposed(const Geometry& g, DType dtype, const_dnnl_memory_desc_t in,
                       const_dnnl_memory_desc_t out) {
    Dims sizes = g.weight, strides = g.weight_strides;
    const size_t channel = sizes.size() - g.stride.size() - 2;
    std::swap(sizes[channel], sizes[channel + 1]);
    std::swap(strides[channel], strides[channel + 1]);
    const OneDnnLayout weight = onednn_any(dtype, sizes), bias = vector(dtype, g.in[1]);
    dnnl_primitive_desc_t description = nullptr;
    onednn_check(dnnl_deconvolution_forward_primitive_desc_create(
                     &description, onednn_engine(), dnnl_forward_training,
                     dnnl_deconvolution_direct, out, weight.get(), bias.get(), in, g.stride.data(),
                     g.dilation.data(), g.padding.data(), g.padding_end.data(), nullptr),
                 "dnnl_deconvolution_forward_primitive_desc_create");
    use_weight(description, dnnl_query_weights_md, dtype, sizes, strides);
    make_product(description, {DNNL_ARG_SRC, out}, DNNL_ARG_WEIGHTS, {DNNL_ARG_DST, in},
                 bias.get());
  }

  void make_backward(const Geometry& g, DType dtype, const_dnnl_memory_desc_t in,
                     const_dnnl_memory_desc_t out) {
    const OneDnnLayout weight = onednn_any(dtype, g.weight);
    const auto hint = describe_forward(g, in, weight.get(), nullptr, out);
    dnnl_primitive_desc_t description = nullptr;
    if (pass_ == ConvPass::kBackwardData) {
      onednn_check(dnnl_convolution_backward_data_primitive_desc_create(
                       &description, onednn_engine(), dnnl_convolution_direct, in, weight.get(),
                       out, g.stride.data(), g.dilation.data(), g.padding.data(),
                       g.padding_end.data(), hint, nullptr),
                   "dnnl_convolution_backward_data_primitive_desc_create");
      use_weight(description, dnnl_query_weights_md, dtype, g.weight, g.weight_strides);
      make_product(description, {DNNL_ARG_DIFF_DST, out}, DNNL_ARG_WEIGHTS, {DNNL_ARG_DIFF_SRC, in},
                   nullptr);
    } else {
      onednn_check(dnnl_convolution_backward_weights_primitive_desc_create(
                       &description, onednn_engine(), dnnl_convolution_direct, in, weight.get(),
                       nullptr, out, g.stride.data(), g.dilation.data(), g.padding.data(),
                       g.padding_end.data(), hint, nullptr),
                   "dnnl_convolution_backward_weights_primitive_desc_create");
      use_weight(description, dnnl_query_diff_weights_md, dtype, g.weight, g.weight_strides);
      make_product(description, {DNNL_ARG_SRC, in}, DNNL_ARG_DIFF_WEIGHTS, {DNNL_ARG_DIFF_DST, out},
                   nullptr);
    }
    dnnl_primitive_desc_destroy(hint);
  }

  static OneDnnLayout vector(DType dtype, int64_t n) { return onednn_strided(dtype, {n}, {1}); }

  // Asks in which order the primitive wants the weight, and prepares the change.
  void use_weight(dnnl_primitive_desc_t description, dnnl_query_t query, DType dtype, IntSpan sizes,
                  IntSpan strides) {
    packed_ = dnnl_primitive_desc_query_md(description, query, 0);
    const OneDnnLayout given = onednn_strided(dtype, sizes, strides);
    packed_bytes_ = dnnl_memory_desc_get_size(packed_);
    if (dnnl_memory_desc_equal(packed_, given.get())) return;
    const bool back = pass_ == ConvPass::kBackwardWeight;
    const const_dnnl_memory_desc_t from = back ? packed_ : given.get();
    const const_dnnl_memory_desc_t to = back ? given.get() : packed_;
    dnnl_primitive_desc_t change = nullptr;
    onednn_check(dnnl_reorder_primitive_desc_create(&change, from, onednn_engine(), to,
                                                    onednn_engine(), nullptr),
                 "dnnl_reorder_primitive_desc_create");
    repack_ = primitive(change, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

  void make_product(dnnl_primitive_desc_t description, OneDnnPrimitive::Argument from,
                    int weight_role, OneDnnPrimitive::Argument to, const_dnnl_memory_desc_t bias) {
    const OneDnnPrimitive::Argument weight{weight_role, packed_};
    product_ = bias ? primitive(description, {from, weight, to, {DNNL_ARG_BIAS, bias}})
                    : primitive(description, {from, weight, to});
  }

  static std::unique_ptr<OneDnnPrimitive> primitive(
      dnnl_primitive_desc_t description,
      std::initializer_list<OneDnnPrimitive::Argument> arguments) {
    return std::make_unique<OneDnnPrimitive>(description, arguments);
  }

  static int64_t next_number() {
    static std::atomic<int64_t> last{0};
    return ++last;
  }

  ConvPass pass_;
  int64_t number_;  // of all convolutions ever: what weights are packed for
  const_dnnl_memory_desc_t packed_ = nullptr;  // belongs to the description: while making only
  size_t packed_bytes_ = 0;
  std::unique_ptr<OneDnnPrimitive> product_, repack_;
};

// Multiplications below which a second thread costs more than it does.
constexpr int64_t kWorthThreads = 1 << 20;

void run(ConvPass pass, const ConvShape& shape, const Tensor& from, const Tensor& weight,
         const Tensor& bias, const Tensor& to) {
  constexpr size_t kCachedPrimitives = 256;
  thread_local RecentCache<ConvKey, std::unique_ptr<Convolution>> cache(kCachedPrimitives);
  // oneDNN gives each thread some of the images and adds up their gradients of the weight.
  const bool is_split = pass == ConvPass::kBackwardWeight;
  const bool alone = shape.work() < kWorthThreads || (is_split && is_deterministic.load());
  const int threads = alone ? 1 : num_threads();
  const BlockingRegion unlocked(shape.work() >= kWorthThreads);
  const OneDnnThreads limit(threads);
  const ConvKey key{
      shape,  pass, static_cast<int64_t>(from.dtype()), bias.defined(), !weight.is_contiguous(),
      threads};
  cache.get(key, [&] { return std::make_unique<Convolution>(key); })
      ->run(from.data(), weight, bias.defined() ? bias.data() : nullptr, to.data());
}

}  // namespace

bool conv_onednn_takes(const ConvShape& shape, DType dtype) {
  const bool has_type =
      dtype == DType::kFloat32 || (dtype == DType::kBFloat16 && onednn_has_bfloat16());
  return has_type && Geometry(shape, false).fits;
}

void conv_forward_onednn(const ConvShape& shape, const Tensor& in, const Tensor& weight,
                         const Tensor& bias, const Tensor& out) {
  run(ConvPass::kForward, shape, in, weight, bias, out);
}

void conv_backward_data_onednn(const ConvShape& shape, const Tensor& out, const Tensor& weight,
                               const Tensor& bias, const Tensor& in) {
  run(ConvPass::kBackwardData, shape, out, weight, bias, in);
}

void conv_backward_weight_onednn(const ConvShape& shape, const Tensor& in, const Tensor& out,
                                 const Tensor& weight) {
  run(ConvPass::kBackwardWeight, shape, in, weight, Tensor(), out);
}

}  // namespace fb::cpu

#endif
