// Tangents, batches and variables, for Python: what flambeau/autograd/forward_ad.py and
// flambeau/func are made of.
#include "bind/transforms.h"

#include "autograd/batch.h"
#include "autograd/forward.h"
#include "bind/call.h"
#include "gen/ops/view.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

const Tensor& tensor_in(nb::handle object) {
  FB_CHECK_TYPE(is_tensor(object.ptr()), "expected a Tensor, got ", Py_TYPE(object.ptr())->tp_name);
  return tensor_of(object.ptr());
}

nb::object wrapped(const Tensor& t) { return t ? nb::steal(wrap(t)) : nb::none(); }

// The level of forward_ad, of which there is one for all threads; func.jvp makes others.
int64_t only_dual_level = -1;

int64_t enter_only_dual_level(nb::handle) {
  FB_CHECK(only_dual_level < 0,
           "Nested forward mode AD is not supported at the moment: leave the level that is active "
           "first, or use func.jvp, which nests");
  return only_dual_level = autograd::enter_dual_level();
}

void exit_only_dual_level(int64_t level) {
  FB_CHECK(level == only_dual_level && level >= 0,
           "Trying to exit a forward AD level that was not the last one that was created. This is "
           "not supported.");
  autograd::exit_dual_level(level);
  only_dual_level = -1;
}

void add_forward(nb::module_& m) {
  m.def(
      "_enter_dual_level", [](nb::handle) { return autograd::enter_dual_level(); },
      nb::arg("none").none());
  m.def("_exit_dual_level", autograd::exit_dual_level, nb::arg("level"));
  m.def("_enter_only_dual_level", enter_only_dual_level, nb::arg("none").none());
  m.def("_exit_only_dual_level", exit_only_dual_level, nb::arg("level"));
  m.def("_only_dual_level", [] { return only_dual_level; });
  m.def(
      "_make_dual",
      [](nb::handle primal, nb::handle tangent, int64_t level) {
        return wrapped(autograd::make_dual(tensor_in(primal), tensor_in(tangent), level));
      },
      nb::arg("primal"), nb::arg("tangent"), nb::arg("level"));
  // The tensor without its tangent, and the tangent or None.
  m.def(
      "_unpack_dual",
      [](nb::handle tensor, int64_t level) {
        const Tensor& t = tensor_in(tensor);
        return nb::make_tuple(wrapped(autograd::primal_of(t, level)),
                              wrapped(autograd::tangent_of(t, level)));
      },
      nb::arg("tensor"), nb::arg("level"));
  // Of the innermost level, or None.
  m.def(
      "_current_tangent",
      [](nb::handle tensor) {
        const int64_t level = autograd::current_dual_level();
        return level < 0 ? nb::none() : wrapped(autograd::tangent_of(tensor_in(tensor), level));
      },
      nb::arg("tensor"));
}

autograd::Randomness randomness_named(std::string_view name) {
  if (name == "different") return autograd::Randomness::kDifferent;
  return name == "same" ? autograd::Randomness::kSame : autograd::Randomness::kError;
}

const char* name_of_randomness(int64_t level) {
  for (const autograd::BatchLevel& each : autograd::batch_levels())
    if (each.level == level && each.randomness != autograd::Randomness::kError)
      return each.randomness == autograd::Randomness::kSame ? "same" : "different";
  return "error";
}

void add_batches(nb::module_& m) {
  m.def(
      "_enter_batch_level",
      [](nb::tuple map) {
        return autograd::enter_batch_level(nb::cast<int64_t>(map[0]),
                                           randomness_named(nb::cast<const char*>(map[1])),
                                           nb::cast<bool>(map[2]));
      },
      nb::arg("map"));
  m.def("_exit_batch_level", autograd::exit_batch_level, nb::arg("level"));
  m.def(
      "_make_batched",
      [](nb::handle tensor, int64_t dim, int64_t level) {
        const Tensor all = ops::movedim(tensor_in(tensor), Dims{dim}, Dims{0});
        return wrapped(autograd::make_batched(all, level));
      },
      nb::arg("tensor"), nb::arg("dim"), nb::arg("level"));
  m.def(
      "_samples_of",
      [](nb::handle tensor, int64_t level) {
        return wrapped(autograd::samples_of(tensor_in(tensor), level));
      },
      nb::arg("tensor"), nb::arg("level"));
  m.def(
      "_is_batched_at",
      [](nb::handle tensor, int64_t level) {
        return autograd::is_batched_at(tensor_in(tensor), level);
      },
      nb::arg("tensor"), nb::arg("level"));
  m.def(
      "_batch_level_of", [](nb::handle t) { return autograd::batch_level_of(tensor_in(t)); },
      nb::arg("tensor"));
  // Whether vmap or forward mode is active, so that a tensor may have more than its elements.
  m.def("_are_functorch_transforms_active",
        [] { return !autograd::batch_levels().empty() || autograd::current_dual_level() >= 0; });
  m.def("_randomness_of", name_of_randomness, nb::arg("level"));
  // How deep the map is nested, and all samples; None for a tensor that is not batched.
  m.def(
      "_batch_of",
      [](nb::handle tensor) -> nb::object {
        const Tensor& t = tensor_in(tensor);
        const int64_t level = autograd::batch_level_of(t);
        if (level < 0) return nb::none();
        int64_t depth = 0;
        for (const autograd::BatchLevel& each : autograd::batch_levels())
          depth += each.level <= level;
        return nb::make_tuple(depth, wrapped(autograd::samples_of(t, level)));
      },
      nb::arg("tensor"));
}

std::vector<Tensor> tensors_in(nb::sequence objects) {
  std::vector<Tensor> tensors;
  for (nb::handle each : objects) tensors.push_back(tensor_in(each));
  return tensors;
}

void add_variables(nb::module_& m) {
  m.def(
      "_variable", [](nb::handle t) { return wrapped(autograd::variable_of(tensor_in(t))); },
      nb::arg("tensor"));
  m.def(
      "_without_history",
      [](nb::handle t) { return wrapped(autograd::without_history(tensor_in(t))); },
      nb::arg("tensor"));
  m.def(
      "_leads_elsewhere",
      [](nb::sequence roots, nb::sequence variables) {
        return autograd::leads_elsewhere(tensors_in(roots), tensors_in(variables));
      },
      nb::arg("roots"), nb::arg("variables"));
}

}  // namespace

void add_transforms(nb::module_& m) {
  add_forward(m);
  add_batches(m);
  add_variables(m);
}

}  // namespace fb::bind
