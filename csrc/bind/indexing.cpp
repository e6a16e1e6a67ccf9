// x[...]: reading and writing through an index.
#include "autograd/batch.h"
#include "autograd/record.h"
#include "bind/call.h"
#include "bind/from_data.h"
#include "bind/interop.h"
#include "bind/items.h"
#include "bind/tape.h"
#include "bind/tensor_object.h"
#include "core/observe.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/advanced_index.h"
#include "ops/host.h"
#include "ops/layout.h"

namespace fb::bind {
namespace {

bool is_mask(const Tensor& t) { return t.dtype() == DType::kBool || t.dtype() == DType::kUInt8; }

// A list with anything but numbers in it means the same as a tuple.
bool is_like_tuple(PyObject* o) {
  if (PyTuple_Check(o)) return true;
  // PyTorch's limit: a longer list is always data.
  if (!PyList_Check(o) || PyList_GET_SIZE(o) >= 32) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(o); ++i) {
    PyObject* item = PyList_GET_ITEM(o, i);
    if (is_tensor(item) || PyList_Check(item) || PyTuple_Check(item) || PySlice_Check(item) ||
        item == Py_None || item == Py_Ellipsis)
      return true;
  }
  return false;
}

// Lists, arrays and other data become tensors of positions, or masks.
Tensor tensor_index(PyObject* o) {
  FB_CHECK_INDEX(
      is_numpy_array(o) || (PySequence_Check(o) && !PyDict_Check(o)),
      "only integers, slices (`:`), ellipsis (`...`), None and integer or bool tensors are "
      "valid indices (got ",
      Py_TYPE(o)->tp_name, ")");
  const Tensor t = tensor_on_data(o, std::nullopt);
  // Floats in a list are truncated, as PyTorch does it; the empty list has no type of its own.
  return is_numpy_array(o) || is_mask(t) ? t : ops::cast(t, DType::kInt64);
}

// A slice with sizes of a program that is recorded as the numbers they are: it reads them itself.
[[gnu::noinline]] Ref slice_of_numbers(PyObject* o) {
  const auto number = [](PyObject* end) {
    return is_size(end) ? checked(PyLong_FromLongLong(size_value(end))) : Ref(new_ref(end));
  };
  const auto* slice = reinterpret_cast<PySliceObject*>(o);
  return checked(PySlice_New(number(slice->start).get(), number(slice->stop).get(),
                             number(slice->step).get()));
}

// A view of a tensor, made from the parts of an index, and what tensors among them pick out of it.
// In one step, unless the graph or an observer is to know the steps.
class Selection {
 public:
  Selection(const Tensor& base, PyObject* index, bool recorded, bool is_slice)
      : base_(base),
        recorded_(recorded),
        is_slice_(is_slice),
        tape_(recorded && observe::watches(observe::kRecord) ? tape::current() : nullptr),
        steps_(recorded ? base : Tensor()) {
    // Reads all of the index first: that may run user code, which may even change the tensor.
    if (is_like_tuple(index)) {
      SmallVec<Part, 8> parts;
      for_each_item(index, [&](PyObject* item) { parts.push_back(part_of(item)); });
      build({parts.data(), parts.size()});
    } else {
      const Part part = part_of(index);
      build({&part, 1});
    }
  }

  // The view that numbers, slices and new dimensions give.
  Tensor view() const {
    if (!recorded_)
      return autograd::as_view_of(base_, inner_view(base_, sizes_, strides_, offset_));
    return steps_.is_same(base_) ? ops::_alias(base_) : steps_;
  }
  // The view that is read or written: the tensor itself if the index is all of it.
  Tensor picked_from() const { return recorded_ && steps_.is_same(base_) ? base_ : view(); }
  // Whether tensors index the view; then one entry per dimension (a mask covers several).
  bool picks_any() const { return picks_any_; }
  const std::vector<Tensor>& picks() const { return picks_; }

 private:
  enum class Kind : uint8_t { kInt, kSlice, kNone, kEllipsis, kBool, kTensor };
  struct Part {
    Kind kind;
    Py_ssize_t start;  // also the value of a number, and of True and False
    Py_ssize_t stop;
    Py_ssize_t step;
  };
  // For a number, or for start, stop and step: their numbers on the tape if they are traced sizes.
  using Traced = std::array<int32_t, 3>;

  void build(std::span<const Part> parts) {
    ops::settle(base_);
    offset_ = base_.offset();
    int64_t rest = base_.dim() - covered_;  // dimensions that an ellipsis stands for
    FB_CHECK_INDEX(rest >= 0, "too many indices for a tensor of ", base_.dim(), " dimensions");
    size_t next_tensor = 0, next_traced = 0;
    for (const Part& part : parts) {
      switch (part.kind) {
        case Kind::kInt:
          if (tape_) give(traced_[next_traced++], {"index", "", ""});
          take(part.start);
          break;
        case Kind::kSlice:
          if (tape_)
            cut_recorded(part, traced_[next_traced++]);
          else
            cut(part);
          break;
        case Kind::kNone: add_dim(); break;
        case Kind::kEllipsis:
          for (; rest > 0; --rest) keep();
          break;
        case Kind::kBool: pick_all(part.start); break;
        case Kind::kTensor: pick(tensors_[next_tensor++]); break;
      }
    }
    while (dim_ < base_.dim()) keep();
  }

  Part part_of(PyObject* o) {
    if (PyLong_CheckExact(o)) return number(o);
    if (PySlice_Check(o)) return slice(o);
    if (o == Py_None) return {Kind::kNone, 0, 0, 0};
    if (o == Py_Ellipsis) return {Kind::kEllipsis, 0, 0, 0};
    if (PyBool_Check(o)) {
      picks_any_ = true;
      return {Kind::kBool, o == Py_True, 0, 0};
    }
    if (!is_tensor(o) && !is_numpy_array(o) && PyIndex_Check(o)) return number(o);
    Tensor t = is_tensor(o) ? tensor_of(o) : tensor_index(o);
    check_dense("__getitem__", t);
    // A 0-dimensional tensor counts as a number, and the result is a view. In a recording its value
    // may differ the next time: there it indexes as other tensors do.
    const bool is_known = tape_ && tape_->known_number_of(t) >= 0;
    if (t.dim() == 0 && is_integral(t.dtype()) && !is_mask(t) && !(t->flags & kBatched) &&
        !is_known)
      return number(o);
    picks_any_ = true;
    // Positions of the host may index what another device has: lists are such positions.
    if (t.device() != base_.device() && t.device() == kHost) [[unlikely]]
      t = ops::to_copy(t, t.dtype(), base_.device(), std::nullopt);
    tensors_.push_back(std::move(t));
    covered_ += is_mask(tensors_.back()) ? tensors_.back().dim() : 1;
    return {Kind::kTensor, 0, 0, 0};
  }

  Part number(PyObject* o) {
    ++covered_;
    if (!tape_) return {Kind::kInt, read::integer(o), 0, 0};
    const int32_t size = size_number(*tape_, o);
    traced_.push_back({size, -1, -1});
    if (size < 0) return {Kind::kInt, read::integer(o), 0, 0};
    return {Kind::kInt, tape_->sizes()[static_cast<size_t>(size)], 0, 0};
  }

  Part slice(PyObject* o) {
    Part part{Kind::kSlice, 0, 0, 0};
    const Ref numbers = observe::watches(observe::kRecord) ? slice_of_numbers(o) : Ref();
    if (PySlice_Unpack(numbers ? numbers.get() : o, &part.start, &part.stop, &part.step) < 0)
      throw PythonError{};
    FB_CHECK_VALUE(part.step > 0, "the step of a slice must be greater than zero, got ", part.step);
    ++covered_;
    if (tape_) {
      const auto* slice = reinterpret_cast<PySliceObject*>(o);
      traced_.push_back({size_number(*tape_, slice->start), size_number(*tape_, slice->stop),
                         size_number(*tape_, slice->step)});
    }
    return part;
  }

  void give(const Traced& traced, std::array<const char*, 3> parameters) {
    for (size_t i = 0; i < traced.size(); ++i)
      if (traced[i] >= 0) tape_->give(parameters[i], -1, traced[i]);
  }

  // With start and stop as they were given: the tensor may be longer the next time.
  void cut_recorded(const Part& slice, const Traced& traced) {
    const auto [kind, start, stop, step] = slice;
    const bool is_whole = start == 0 && stop == PY_SSIZE_T_MAX && step == 1;
    if (is_slice_ || !is_whole) {
      give(traced, {"start", "end", "step"});
      steps_ = ops::_slice(steps_, next_dim(), start, stop, step);
    }
    push(is_whole ? base_.sizes()[dim_] : steps_.sizes()[static_cast<size_t>(next_dim())],
         base_.strides()[dim_]);
    ++dim_;
  }

  void take(int64_t index) {
    const int64_t size = base_.sizes()[dim_];
    FB_CHECK_INDEX(index >= -size && index < size, "index ", index,
                   " is out of bounds for dimension ", dim_, " with size ", size);
    if (recorded_) steps_ = ops::select(steps_, next_dim(), index);
    offset_ += (index < 0 ? index + size : index) * base_.strides()[dim_++];
  }

  void cut(const Part& slice) {
    auto [kind, start, stop, step] = slice;
    const int64_t length = PySlice_AdjustIndices(base_.sizes()[dim_], &start, &stop, step);
    // A full slice is a step of its own only if it is the whole index.
    const bool is_whole = start == 0 && stop == base_.sizes()[dim_] && step == 1;
    if (recorded_ && (is_slice_ || !is_whole))
      steps_ = ops::_slice(steps_, next_dim(), start, stop, step);
    // One position needs no step, and a huge one must not overflow.
    const int64_t stride = length > 1 ? base_.strides()[dim_] * step : base_.strides()[dim_];
    offset_ += length > 0 ? start * base_.strides()[dim_] : 0;
    push(length, stride);
    ++dim_;
  }

  void keep() {
    push(base_.sizes()[dim_], base_.strides()[dim_]);
    ++dim_;
  }

  void add_dim() {
    if (recorded_) steps_ = ops::unsqueeze(steps_, next_dim());
    const bool is_last = dim_ >= base_.dim();
    push(1, is_last ? 1 : base_.sizes()[dim_] * base_.strides()[dim_]);
  }

  // x[True] and x[False]: a new dimension of size 1 or 0.
  void pick_all(bool value) {
    add_dim();
    const Tensor mask = make_tensor({1}, DType::kBool, base_.device());
    kernel::of(mask).fill(mask, value);
    picks_.back() = noted(mask);
  }

  void pick(const Tensor& index) {
    if (is_mask(index)) autograd::check_no_mask(index);
    if (index.dim() == 0 && is_mask(index)) return pick_all(ops::host_number(index).to<bool>());
    const int64_t dims = is_mask(index) ? index.dim() : 1;
    for (int64_t i = 0; i < dims; ++i) keep();
    picks_.resize(picks_.size() - static_cast<size_t>(dims));
    picks_.push_back(index);
  }

  // The dimension of the view that the next part makes.
  int64_t next_dim() const { return static_cast<int64_t>(sizes_.size()); }

  void push(int64_t size, int64_t stride) {
    sizes_.push_back(size);
    strides_.push_back(stride);
    if (picks_any_) picks_.emplace_back();
  }

  const Tensor& base_;
  bool recorded_;
  bool is_slice_;        // the whole index is one part, and its result must be a view
  tape::Tape* tape_;     // of the tape that records this thread
  Tensor steps_;         // the view so far, if its steps are recorded
  int64_t dim_ = 0;      // the next dimension of the tensor
  int64_t covered_ = 0;  // dimensions that the parts other than an ellipsis stand for
  Dims sizes_, strides_;
  int64_t offset_ = 0;
  bool picks_any_ = false;
  std::vector<Tensor> tensors_;  // the tensors among the parts, in order
  std::vector<Tensor> picks_;
  std::vector<Traced> traced_;  // of the numbers and slices among the parts, on a tape
};

void check_assignable(PyObject* value, DType dtype) {
  FB_CHECK_TYPE(is_number(value), "can't assign a ", Py_TYPE(value)->tp_name,
                " to a tensor of type ", dtype);
}

void check_number(const Scalar& value, DType dtype) {
  FB_CHECK(value.kind() != Scalar::Kind::kComplex || is_complex(dtype), "value ", value,
           " cannot be converted to type ", dtype, " without loss");
}

void assign_number(const Tensor& target, const Scalar& value) {
  check_number(value, target.dtype());
  ops::fill_(target, value);
}

// A number as a tensor to assign.
Tensor single(const Scalar& value, DType dtype, Device device) {
  check_number(value, dtype);
  if (observe::watches(observe::kRecord)) return ops::full(IntSpan(), value, dtype, device);
  const Tensor made = make_tensor({}, dtype, device);
  ops::fill_(made, value);
  return made;
}

void assign_tensor(const Tensor& target, Tensor value) {
  // The value may have leading dimensions of size 1 that the target does not have.
  while (value.dim() > target.dim() && value.sizes()[0] == 1) value = ops::select(value, 0, 0);
  if (value.dim() == 0)
    ops::fill_(target, value);
  else
    ops::copy_(target, value);
}

}  // namespace

PyObject* tensor_getitem(PyObject* self, PyObject* index) {
  return guarded("__getitem__", [&] {
    if (is_overridden(self) || (!PyLong_CheckExact(index) && is_overridden(&index, 1))) [[unlikely]]
      return call_method_override("__getitem__", {self, index});
    const Tensor& t = tensor_of(self);
    FB_CHECK_INDEX(t.dim() > 0 || !PyLong_CheckExact(index),
                   "invalid index of a 0-dim tensor; use item() to convert it to a number");
    if (PyLong_CheckExact(index)) return wrap(ops::select(t, 0, read::integer(index)));
    const bool in_steps = !autograd::takes_fast_path(t) || observe::any();
    const Selection selection(t, index, in_steps, PySlice_Check(index));
    return wrap(selection.picks_any() ? ops::index(selection.picked_from(), selection.picks())
                                      : selection.view());
  });
}

int tensor_setitem(PyObject* self, PyObject* index, PyObject* value) {
  return guarded_int("__setitem__", [&] {
    const Tensor& t = tensor_of(self);
    FB_CHECK_TYPE(value != nullptr, "a tensor does not support deleting items");
    PyObject* const operands[] = {self, index, value};
    if (is_overridden(operands, 3)) [[unlikely]] {
      const Ref ignored(call_method_override("__setitem__", {self, index, value}));
      return 0;
    }
    FB_CHECK_TYPE(!is_sparse(t), "cannot assign to a sparse tensor; use .to_dense() first");
    const bool is_fast = autograd::takes_fast_path(t) &&
                         (!is_tensor(value) || autograd::takes_fast_path(tensor_of(value)));
    const Selection selection(t, index, !is_fast || observe::any(), false);
    const Tensor target = selection.picked_from();
    if (!is_tensor(value)) check_assignable(value, t.dtype());
    if (!selection.picks_any() && is_fast && !is_tensor(value)) {
      assign_number(target, read::number(value));
      return 0;
    }
    const Tensor elements =
        is_tensor(value) ? tensor_of(value) : single(read::number(value), t.dtype(), t.device());
    if (selection.picks_any())
      ops::index_put_(target, selection.picks(), elements);
    else
      assign_tensor(target, elements);
    return 0;
  });
}

PyObject* bound_nonzero(PyObject* const* a) {
  const Tensor& input = tensor_of(a[0]);
  if (input->flags & kBatched) autograd::refuse_dynamic_shape("nonzero");
  fb::check_dense("nonzero", input);
  const bool as_tuple = a[1] && read::boolean(a[1]);
  if (is_recorded()) [[unlikely]] {
    // By operators of the table; nonzero is not one.
    if (!as_tuple) return wrap(ops::argwhere(input));
    return wrap(ops::unbind(ops::argwhere(input.dim() == 0 ? ops::unsqueeze(input, 0) : input), 1));
  }
  return as_tuple ? wrap(ops::nonzero_tuple(input)) : wrap(ops::nonzero(input));
}

}  // namespace fb::bind
