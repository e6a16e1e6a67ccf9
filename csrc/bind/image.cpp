// Image files, for flambeau.vision.io. Several are processed at once, without the lock.
#include "bind/image.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "bind/tensor_object.h"
#include "core/blocking.h"
#include "core/tensor.h"
#include "cpu/threads.h"
#include "image/jpeg.h"
#include "image/options.h"
#include "image/png.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

Tensor checked_tensor(nb::handle object) {
  FB_CHECK_TYPE(is_tensor(object.ptr()), "expected a tensor, got ", Py_TYPE(object.ptr())->tp_name);
  return tensor_of(object.ptr());
}

std::vector<Tensor> tensors_of(const nb::list& list) {
  std::vector<Tensor> tensors;
  for (const nb::handle each : list) tensors.push_back(checked_tensor(each));
  return tensors;
}

// Calls work(i) for every i. Images differ in size, so each thread takes the next one when it has
// finished one. Raises the error of the first that failed.
template <class Work>
nb::list in_parallel(size_t count, const Work& work) {
  std::vector<Tensor> results(count);
  std::vector<std::exception_ptr> errors(count);
  std::atomic<size_t> next{0};
  {
    const BlockingRegion region(count > 0);
    const auto threads = std::min<int64_t>(cpu::num_threads(), static_cast<int64_t>(count));
    cpu::parallel_for(threads, 1, [&](int64_t, int64_t) {
      for (size_t i = next++; i < count; i = next++) {
        try {
          results[i] = work(i);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      }
    });
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  nb::list list;
  for (Tensor& each : results) list.append(nb::steal(wrap(std::move(each))));
  return list;
}

using Decode = Tensor (*)(std::span<const uint8_t> file, const image::Options& options,
                          const std::string& name);

template <Decode kDecode>
nb::list decode(const nb::list& files, const std::vector<std::string>& names, int channels,
                bool upright, int64_t most_pixels) {
  const std::vector<Tensor> inputs = tensors_of(files);
  FB_CHECK(inputs.size() == names.size(), "expected one name for each file");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    FB_CHECK(input.dtype() == DType::kUInt8 && input.dim() == 1 && input.is_contiguous(), names[i],
             ": expected a contiguous 1-dimensional uint8 tensor of encoded bytes, got one of ",
             name_of(input.dtype()), " and shape ", input.sizes());
  }
  const image::Options options{static_cast<image::Channels>(channels), upright, most_pixels};
  return in_parallel(inputs.size(), [&](size_t i) {
    const Tensor& file = inputs[i];
    return kDecode({file.data_as<uint8_t>(), static_cast<size_t>(file.numel())}, options, names[i]);
  });
}

nb::list encode_jpeg(const nb::list& images, int quality) {
  const std::vector<Tensor> inputs = tensors_of(images);
  return in_parallel(inputs.size(),
                     [&](size_t i) { return image::encode_jpeg(inputs[i], quality); });
}

nb::object filter_png(nb::handle image) {
  const Tensor input = checked_tensor(image);
  Tensor rows;
  {
    const BlockingRegion region(true);
    rows = image::filter_png(input);
  }
  return nb::steal(wrap(std::move(rows)));
}

}  // namespace

void add_image(nb::module_& m) {
  m.def("_decode_jpeg", &decode<image::decode_jpeg>, nb::arg("files"), nb::arg("names"),
        nb::arg("channels"), nb::arg("upright"), nb::arg("most_pixels"));
  m.def("_decode_png", &decode<image::decode_png>, nb::arg("files"), nb::arg("names"),
        nb::arg("channels"), nb::arg("upright"), nb::arg("most_pixels"));
  m.def("_filter_png", &filter_png, nb::arg("image"));
  m.def("_encode_jpeg", &encode_jpeg, nb::arg("images"), nb::arg("quality"));
}

}  // namespace fb::bind
