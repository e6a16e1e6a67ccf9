// Convolutions by oneDNN's primitives: images channels last, weights in whatever order a primitive
// likes best.
//
// Its own threads would be a second pool beside ours, so it is called on one thread, from each of
// ours, for slices of the convolution: some images, or some rows of one. The cut depends on the
// sizes alone, so that the result does not depend on the number of threads.
#if defined(FB_HAVE_ONEDNN)

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/allocator.h"
#include "core/layout.h"
#include "cpu/conv_impl.h"
#include "cpu/gemm_impl.h"
#include "cpu/onednn.h"
#include "cpu/packed.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// A primitive is made for exact sizes and layouts.
struct ConvKey {
  ConvShape shape;
  ConvPass pass;
  int64_t dtype, has_bias, weight_last;

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

class Convolution;
const Convolution& convolution_of(const ConvKey& key);

// A primitive for a slice, and how it wants the weight.
class Convolution {
 public:
  explicit Convolution(const ConvKey& key) : key_(key), number_(next_number()) {
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

  // `weight` is in the order of the primitive. It is written by kBackwardWeight, in float32, and
  // read by the others.
  void run(const void* from, const void* weight, const void* bias, const void* to) const {
    if (bias)
      product_->run({from, weight, to, bias});
    else
      product_->run({from, weight, to});
  }

  bool has_same_order(const Convolution& other) const {
    return dnnl_memory_desc_equal(packed_.get(), other.packed_.get());
  }
  const std::string& kernel() const { return kernel_; }
  bool takes_weight_as_it_is() const { return dnnl_memory_desc_equal(packed_.get(), given_.get()); }
  size_t packed_bytes() const { return dnnl_memory_desc_get_size(packed_.get()); }

  Storage packed(const Tensor& weight) const {
    return packed_weight(weight, {number_, 0, 0}, packed_bytes(),
                         [&](void* packed) { reorder(weight.data(), packed); });
  }
  void unpack(const void* packed, void* weight) const { reorder(packed, weight); }

 private:
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
    if (key_.pass == ConvPass::kBackwardData) {
      onednn_check(dnnl_convolution_backward_data_primitive_desc_create(
                       &description, onednn_engine(), dnnl_convolution_direct, in, weight.get(),
                       out, g.stride.data(), g.dilation.data(), g.padding.data(),
                       g.padding_end.data(), hint, nullptr),
                   "dnnl_convolution_backward_data_primitive_desc_create");
      use_weight(description, dnnl_query_weights_md, dtype, g.weight, g.weight_strides);
      make_product(description, {DNNL_ARG_DIFF_DST, out}, DNNL_ARG_WEIGHTS, {DNNL_ARG_DIFF_SRC, in},
                   nullptr);
    } else {
      const OneDnnLayout sums = onednn_any(DType::kFloat32, g.weight);
      onednn_check(dnnl_convolution_backward_weights_primitive_desc_create(
                       &description, onednn_engine(), dnnl_convolution_direct, in, sums.get(),
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

  // Asks in which order the primitive wants the weight.
  void use_weight(dnnl_primitive_desc_t description, dnnl_query_t query, DType dtype, IntSpan sizes,
                  IntSpan strides) {
    dnnl_memory_desc_t packed = nullptr;
    onednn_check(
        dnnl_memory_desc_clone(&packed, dnnl_primitive_desc_query_md(description, query, 0)),
        "dnnl_memory_desc_clone");
    packed_.reset(packed);
    given_ = onednn_strided(dtype, sizes, strides);
    cut_weight(Dims(sizes));
    const char* kernel = "";
    dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, &kernel);
    kernel_ = kernel;
  }

  // Changes the order of the weight: to the primitive's, or back where it computes the weight's
  // gradient. Threads share the pieces, each with a primitive of its own.
  void reorder(const void* from, const void* to) const {
    parallel_for(pieces_.count, 1, [&](int64_t begin, int64_t end) {
      const OneDnnOnThisThread alone;
      const Convolution& own = convolution_of(key_);
      for (int64_t i = begin; i < end; ++i) own.reorder_piece(i, from, to);
    });
  }

  void reorder_piece(int64_t i, const void* from, const void* to) const {
    const bool back = key_.pass == ConvPass::kBackwardWeight;
    const Pieces& p = pieces_;
    const OneDnnLayout& given = p.count > 1 ? p.given : given_;
    const OneDnnLayout& packed = p.count > 1 ? p.packed : packed_;
    if (!reorder_) {
      const dnnl_memory_desc_t one = (back ? packed : given).get();
      const dnnl_memory_desc_t other = (back ? given : packed).get();
      dnnl_primitive_desc_t change = nullptr;
      onednn_check(dnnl_reorder_primitive_desc_create(&change, one, onednn_engine(), other,
                                                      onednn_engine(), nullptr),
                   "dnnl_reorder_primitive_desc_create");
      reorder_ = primitive(change, {{DNNL_ARG_FROM, one}, {DNNL_ARG_TO, other}});
    }
    const DType type = static_cast<DType>(key_.dtype);
    const int64_t in_given = i * p.given_step, in_packed = i * p.packed_step;
    if (back)
      reorder_->run({element_at(from, in_packed, DType::kFloat32), element_at(to, in_given, type)});
    else
      reorder_->run({element_at(from, in_given, type), element_at(to, in_packed, type)});
  }

  // Equal parts of a large weight along its longer dimension of channels.
  struct Pieces {
    int64_t count = 1;
    OneDnnLayout given, packed;               // of one
    int64_t given_step = 0, packed_step = 0;  // elements from one to the next
  };

  static OneDnnLayout part_of(const OneDnnLayout& whole, const Dims& sizes, const Dims& offsets) {
    dnnl_memory_desc_t part = nullptr;
    const dnnl_status_t status =
        dnnl_memory_desc_create_submemory(&part, whole.get(), sizes.data(), offsets.data());
    return OneDnnLayout(status == dnnl_success ? part : nullptr);
  }
  static int64_t offset_of(const OneDnnLayout& part) {
    int64_t offset = 0;
    onednn_check(dnnl_memory_desc_query(part.get(), dnnl_query_submemory_offset_s64, &offset),
                 "dnnl_memory_desc_query");
    return offset;
  }

  void cut_weight(const Dims& sizes) {
    constexpr int64_t kUnit = 64;  // whole blocks of every order
    constexpr int64_t kWorthCutting = 1 << 17;
    int64_t elements = 1;
    for (const int64_t size : sizes) elements *= size;
    const size_t d = sizes[0] >= sizes[1] ? 0 : 1;
    if (key_.shape.groups > 1 || sizes[d] % kUnit != 0 || elements < kWorthCutting) return;
    Dims part = sizes, offsets(sizes.size());
    part[d] = kUnit;
    Pieces pieces;
    pieces.count = sizes[d] / kUnit;
    pieces.given = part_of(given_, part, offsets);
    pieces.packed = part_of(packed_, part, offsets);
    offsets[d] = kUnit;
    const OneDnnLayout next_given = part_of(given_, part, offsets);
    const OneDnnLayout next_packed = part_of(packed_, part, offsets);
    if (!pieces.given || !pieces.packed || !next_given || !next_packed) return;
    pieces.given_step = offset_of(next_given);
    pieces.packed_step = offset_of(next_packed);
    pieces_ = std::move(pieces);
  }

  void make_product(dnnl_primitive_desc_t description, OneDnnPrimitive::Argument from,
                    int weight_role, OneDnnPrimitive::Argument to, const_dnnl_memory_desc_t bias) {
    const OneDnnPrimitive::Argument weight{weight_role, packed_.get()};
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

  ConvKey key_;
  int64_t number_;               // of all convolutions ever: what weights are packed for
  OneDnnLayout packed_, given_;  // the weight for the primitive, and the user's
  Pieces pieces_;
  std::string kernel_;  // oneDNN's name for it
  std::unique_ptr<OneDnnPrimitive> product_;
  mutable std::unique_ptr<OneDnnPrimitive> reorder_;
};

// One cache per thread needs no lock; oneDNN shares the generated code itself between them.
const Convolution& convolution_of(const ConvKey& key) {
  constexpr size_t kCachedPrimitives = 512;
  thread_local RecentCache<ConvKey, std::unique_ptr<Convolution>> cache(kCachedPrimitives);
  return *cache.get(key, [&] { return std::make_unique<Convolution>(key); });
}

// A part of a convolution: its sizes, and where its images begin.
struct Slice {
  ConvShape shape;
  int64_t in, out;  // elements
};

int64_t elements_from(const Extent& extent, size_t dimension) {
  int64_t elements = 1;
  for (size_t d = dimension; d < 3; ++d) elements *= extent[d];
  return elements;
}

// Some images of the batch.
Slice images_of(const ConvShape& s, int64_t first, int64_t last) {
  Slice slice{s, first * s.in_channels * elements_from(s.in, 0),
              first * s.out_channels * elements_from(s.out, 0)};
  slice.shape.batch = last - first;
  return slice;
}

// The rows [in_first, in_last) of an image with those of the other, along one dimension. Whatever
// the windows reach beyond is outside of the image: padding.
Slice rows_of(const ConvShape& s, int64_t image, size_t d, int64_t in_first, int64_t in_last,
              int64_t out_first, int64_t out_last) {
  Slice slice = images_of(s, image, image + 1);
  slice.in += in_first * s.in_channels * elements_from(s.in, d + 1);
  slice.out += out_first * s.out_channels * elements_from(s.out, d + 1);
  slice.shape.in[d] = in_last - in_first;
  slice.shape.out[d] = out_last - out_first;
  slice.shape.padding[d] = in_first + s.padding[d] - out_first * s.stride[d];
  return slice;
}

int64_t span_of(const ConvShape& s, size_t d) { return (s.kernel[d] - 1) * s.dilation[d] + 1; }

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Rows [first, last) of `out` with the rows of `in` that they are computed from.
Slice rows_of_out(const ConvShape& s, int64_t image, size_t d, int64_t first, int64_t last) {
  const int64_t begin = first * s.stride[d] - s.padding[d];
  const int64_t end = (last - 1) * s.stride[d] - s.padding[d] + span_of(s, d);
  return rows_of(s, image, d, std::max<int64_t>(begin, 0), std::min(end, s.in[d]), first, last);
}

// Rows [first, last) of `in` with the rows of `out` that are computed from them.
Slice rows_of_in(const ConvShape& s, int64_t image, size_t d, int64_t first, int64_t last) {
  const int64_t begin =
      ceil_div(std::max<int64_t>(first + s.padding[d] - span_of(s, d) + 1, 0), s.stride[d]);
  const int64_t end = (last - 1 + s.padding[d]) / s.stride[d] + 1;
  return rows_of(s, image, d, first, last, begin, std::min(end, s.out[d]));
}

bool can_be_computed(const Slice& slice) {
  const ConvShape& s = slice.shape;
  for (size_t d = 0; d < 3; ++d)
    if (s.in[d] < 1 || s.out[d] < 1 || s.padding[d] < 0) return false;
  return Geometry(s, false).fits;
}

// How a convolution is cut.
class Plan {
 public:
  explicit Plan(const ConvKey& key) : key_(key) {
    const int64_t parts = parts_of(key);
    if (!cut_rows(parts) && !cut_images(ceil_div(key.shape.batch, parts)))
      cut_images(even_images(parts));
  }

  // Every slice's primitive wants the weight in the order of this one.
  const Convolution& first() const { return convolution(0); }
  int64_t count() const { return static_cast<int64_t>(slices_.size()); }

  void run(int64_t i, const void* from, const void* weight, const void* bias,
           const void* to) const {
    const OneDnnOnThisThread alone;
    const bool back = key_.pass == ConvPass::kBackwardData;
    const Slice& slice = slices_[i];
    const DType dtype = static_cast<DType>(key_.dtype);
    convolution(i).run(element_at(from, back ? slice.out : slice.in, dtype), weight, bias,
                       element_at(to, back ? slice.in : slice.out, dtype));
  }

 private:
  // By the sizes alone; powers of two share evenly. A call of a primitive costs 2 us. The sums of
  // weights that slices make have to be added up, which has to be little beside them.
  static int64_t parts_of(const ConvKey& key) {
    constexpr int64_t kWorthSlice = 1 << 21;  // multiplications: 15 to 60 us
    constexpr int64_t kMostSlices = 32, kMostSums = 16, kPixelsOfSum = 512;
    const ConvShape& s = key.shape;
    int64_t most = std::min(s.work() / kWorthSlice, kMostSlices);
    if (key.pass == ConvPass::kBackwardWeight)
      most = std::min({most, kMostSums, s.batch * elements_from(s.out, 0) / kPixelsOfSum});
    int64_t parts = 1;
    while (2 * parts <= most) parts *= 2;
    return parts;
  }

  // The most slices up to `parts` that have the same number of images.
  int64_t even_images(int64_t parts) const {
    int64_t slices = std::min(parts, key_.shape.batch);
    while (key_.shape.batch % slices != 0) --slices;
    return key_.shape.batch / slices;
  }

  bool cut_images(int64_t images) {
    const int64_t batch = key_.shape.batch;
    slices_.clear();
    for (int64_t first = 0; first < batch; first += images)
      slices_.push_back(images_of(key_.shape, first, std::min(first + images, batch)));
    return is_possible();
  }

  // Where there are few images. Slices of few rows cost more than those of whole images.
  bool cut_rows(int64_t parts) {
    constexpr int64_t kMostByRows = 16;
    const ConvShape& s = key_.shape;
    parts = std::min(parts, kMostByRows);
    if (s.batch >= parts) return false;
    const bool back = key_.pass == ConvPass::kBackwardData;
    const Extent& extent = back ? s.in : s.out;
    size_t d = 0;
    while (d < 2 && extent[d] == 1) ++d;
    // Some primitives take only rows that are whole strides.
    const int64_t unit = back ? s.stride[d] : 1;
    const int64_t rows = ceil_div(extent[d], ceil_div(parts, s.batch) * unit) * unit;
    for (int64_t image = 0; image < s.batch; ++image)
      for (int64_t first = 0; first < extent[d]; first += rows) {
        const int64_t last = std::min(first + rows, extent[d]);
        slices_.push_back(back ? rows_of_in(s, image, d, first, last)
                               : rows_of_out(s, image, d, first, last));
      }
    return is_possible() && has_same_kernels(images_of(s, 0, 1).shape);
  }

  // Whether oneDNN takes its kernel for whole images: the others for the same sizes are slower.
  bool has_same_kernels(const ConvShape& whole) const {
    ConvKey key = key_;
    key.shape = whole;
    const std::string name = convolution_of(key).kernel();
    for (int64_t i = 0; i < count(); ++i)
      if (convolution(i).kernel() != name) return false;
    return true;
  }

  bool is_possible() const {
    if (!std::all_of(slices_.begin(), slices_.end(), can_be_computed)) return false;
    for (int64_t i = 1; i < count(); ++i)
      if (slices_[i].shape != slices_[i - 1].shape && !convolution(i).has_same_order(first()))
        return false;
    return true;
  }

  const Convolution& convolution(int64_t i) const {
    ConvKey key = key_;
    key.shape = slices_[i].shape;
    return convolution_of(key);
  }

  ConvKey key_;
  std::vector<Slice> slices_;
};

const Plan& plan_of(const ConvKey& key) {
  constexpr size_t kCachedPlans = 256;
  thread_local RecentCache<ConvKey, std::unique_ptr<Plan>> cache(kCachedPlans);
  return *cache.get(key, [&] { return std::make_unique<Plan>(key); });
}

ConvKey key_of(ConvPass pass, const ConvShape& shape, const Tensor& image, const Tensor& weight,
               bool has_bias) {
  return {shape, pass, static_cast<int64_t>(image.dtype()), has_bias, !weight.is_contiguous()};
}

// Multiplications that are worth letting other Python threads run.
constexpr int64_t kLongWork = 1 << 20;

void convolve(ConvPass pass, const ConvShape& shape, const Tensor& from, const Tensor& weight,
              const Tensor& bias, const Tensor& to) {
  const BlockingRegion unlocked(shape.work() >= kLongWork);
  const OneDnnOnThisThread alone;
  const ConvKey key = key_of(pass, shape, from, weight, bias.defined());
  const Plan& plan = plan_of(key);
  const bool as_it_is = plan.first().takes_weight_as_it_is();
  const Storage packed = as_it_is ? Storage() : plan.first().packed(weight);
  const void* const taps = as_it_is ? weight.data() : packed->data;
  parallel_for(plan.count(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      plan.run(i, from.data(), taps, bias.defined() ? bias.data() : nullptr, to.data());
  });
}

// Every slice has sums of its own, which are added up in their order.
void sum_weight(const ConvShape& shape, const Tensor& in, const Tensor& out, const Tensor& weight) {
  const BlockingRegion unlocked(shape.work() >= kLongWork);
  const OneDnnOnThisThread alone;
  const ConvKey key = key_of(ConvPass::kBackwardWeight, shape, in, weight, false);
  const Plan& plan = plan_of(key);
  const bool as_it_is = plan.first().takes_weight_as_it_is();
  const auto elements = static_cast<int64_t>(plan.first().packed_bytes() / sizeof(float));
  const int64_t others = plan.count() - (as_it_is ? 1 : 0);
  const Storage scratch = allocate_cpu(others * elements * sizeof(float));
  const auto sums_of = [&](int64_t slice) {
    if (as_it_is && slice == 0) return weight.data_as<float>();
    return static_cast<float*>(scratch->data) + (slice - (as_it_is ? 1 : 0)) * elements;
  };
  parallel_for(plan.count(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) plan.run(i, in.data(), sums_of(i), nullptr, out.data());
  });
  if (plan.count() > 1) {
    parallel_for(elements, kGrain / plan.count(), [&](int64_t begin, int64_t end) {
      for (int64_t i = 1; i < plan.count(); ++i) FB_KERNEL(add_elements)
      (DType::kFloat32, end - begin, sums_of(i) + begin, sums_of(0) + begin);
    });
  }
  if (!as_it_is) plan.first().unpack(sums_of(0), weight.data());
}

}  // namespace

bool conv_onednn_takes(const ConvShape& shape, DType dtype) {
  const bool has_type =
      dtype == DType::kFloat32 || (dtype == DType::kBFloat16 && onednn_has_bfloat16());
  return has_type && Geometry(shape, false).fits;
}

void conv_forward_onednn(const ConvShape& shape, const Tensor& in, const Tensor& weight,
                         const Tensor& bias, const Tensor& out) {
  convolve(ConvPass::kForward, shape, in, weight, bias, out);
}

void conv_backward_data_onednn(const ConvShape& shape, const Tensor& out, const Tensor& weight,
                               const Tensor& bias, const Tensor& in) {
  convolve(ConvPass::kBackwardData, shape, out, weight, bias, in);
}

void conv_backward_weight_onednn(const ConvShape& shape, const Tensor& in, const Tensor& out,
                                 const Tensor& weight) {
  sum_weight(shape, in, out, weight);
}

}  // namespace fb::cpu

#endif
