// cuDNN: opened at run time; descriptors, heuristics and plans.
#include "cuda/cudnn.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "core/text.h"
#include "cuda/context.h"
#include "cuda/library.h"

namespace fb::cuda {
namespace {

struct Functions : Symbols {
  using Symbols::Symbols;
  size_t (*version)() = find("cudnnGetVersion");
  int (*create)(cudnn::Handle* handle) = find("cudnnCreate");
  int (*set_stream)(cudnn::Handle handle, Stream stream) = find("cudnnSetStream");
  int (*descriptor_create)(int kind, void** made) = find("cudnnBackendCreateDescriptor");
  int (*descriptor_destroy)(void* descriptor) = find("cudnnBackendDestroyDescriptor");
  int (*descriptor_finalize)(void* descriptor) = find("cudnnBackendFinalize");
  int (*descriptor_set)(void* descriptor, int attribute, int type, int64_t count,
                        const void* values) = find("cudnnBackendSetAttribute");
  int (*descriptor_get)(void* descriptor, int attribute, int type, int64_t most, int64_t* count,
                        void* values) = find("cudnnBackendGetAttribute");
  int (*execute)(cudnn::Handle handle, void* plan, void* pack) = find("cudnnBackendExecute");
  const char* (*status_text)(int status) = find("cudnnGetErrorString");
  void (*last_error)(char* text, size_t most) = find_newer("cudnnGetLastErrorString");
};

Opened<Functions> open_neural_library() {
  // It finds the libraries that it consists of in its own folder.
  Opened<Functions> opened(
      Wanted{.name = "cuDNN",
             .variable = "FLAMBEAU_LIBCUDNN",
             .package = driver_state().version >= 13000 ? "nvidia-cudnn-cu13" : "nvidia-cudnn-cu12",
             .files = {"libcudnn.so.9"},
             .folders = {"nvidia/cudnn/lib", "nvidia/cu13/lib"}});
  if (opened.library.handle) opened.library.version = opened.f.version();
  return opened;
}

const Opened<Functions>& opened() { return made_once<open_neural_library>(); }

}  // namespace

const Library& neural_library() { return opened().library; }

namespace cudnn {
namespace {

constexpr int kHeuristicsFallback = 2, kHeuristicsA = 3;
enum class Note : int { kTensorCores = 0, kShorterInputs = 1, kAnyOrder = 4 };

const Functions& f() { return opened().f; }

std::string text_of(int status) {
  std::string text = message_of(f().status_text(status), " (", status, ")");
  if (!f().last_error) return text;
  char more[512] = {};
  f().last_error(more, sizeof more);
  if (more[0]) text += message_of(": ", more);
  return text;
}

void check(int status, const char* call, int what) {
  if (status == 0) [[likely]]
    return;
  throw Refusal{status, message_of(call, " ", what, ": ", text_of(status))};
}

bool has(const std::vector<int>& notes, Note note) {
  return std::find(notes.begin(), notes.end(), static_cast<int>(note)) != notes.end();
}

// Those of a configuration's engine.
std::vector<int> notes_of(const Descriptor& config) {
  const Descriptor engine(Kind::kEngine);
  void* raw = engine.raw();
  config.get(Attribute::kConfigEngine, Type::kDescriptor, 1, &raw);
  int notes[16];
  const int64_t count = engine.get(Attribute::kEngineNotes, Type::kNote, 16, notes);
  return {notes, notes + std::min<int64_t>(count, 16)};
}

std::vector<Descriptor> configs_for(const Descriptor& graph, int mode) {
  Descriptor heuristics(Kind::kHeuristics);
  heuristics.set(Attribute::kHeuristicsGraph, graph)
      .set(Attribute::kHeuristicsMode, Type::kHeuristicsMode, 1, &mode)
      .finalize();
  const int64_t count =
      heuristics.get(Attribute::kHeuristicsResults, Type::kDescriptor, 0, nullptr);
  std::vector<Descriptor> configs;
  std::vector<void*> raw;
  for (int64_t i = 0; i < count; ++i)
    raw.push_back(configs.emplace_back(Kind::kEngineConfig).raw());
  const int64_t filled =
      heuristics.get(Attribute::kHeuristicsResults, Type::kDescriptor, count, raw.data());
  configs.resize(static_cast<size_t>(std::clamp<int64_t>(filled, 0, count)));
  return configs;
}

}  // namespace

Descriptor::Descriptor(Kind kind) {
  check(f().descriptor_create(static_cast<int>(kind), &raw_), "descriptor", static_cast<int>(kind));
}

Descriptor::~Descriptor() {
  if (raw_) f().descriptor_destroy(raw_);
}

Descriptor& Descriptor::set(Attribute attribute, Type type, int64_t count, const void* values) {
  check(
      f().descriptor_set(raw_, static_cast<int>(attribute), static_cast<int>(type), count, values),
      "attribute", static_cast<int>(attribute));
  return *this;
}

int64_t Descriptor::get(Attribute attribute, Type type, int64_t most, void* values) const {
  int64_t count = 0;
  check(f().descriptor_get(raw_, static_cast<int>(attribute), static_cast<int>(type), most, &count,
                           values),
        "reading attribute", static_cast<int>(attribute));
  return count;
}

Descriptor& Descriptor::finalize() {
  const int status = f().descriptor_finalize(raw_);
  if (status != 0) throw Refusal{status, message_of("finalizing: ", text_of(status))};
  return *this;
}

bool type_number(DType dtype, int& number) {
  switch (dtype) {
    case DType::kFloat32: number = 0; return true;
    case DType::kFloat16: number = 2; return true;
    case DType::kBFloat16: number = 9; return true;
    default: return false;
  }
}

Descriptor tensor(int64_t id, int type, const std::vector<int64_t>& sizes,
                  const std::vector<int64_t>& strides, int64_t alignment) {
  Descriptor made(Kind::kTensor);
  made.set(Attribute::kTensorId, id)
      .set(Attribute::kTensorType, Type::kDataType, 1, &type)
      .set(Attribute::kTensorDims, sizes)
      .set(Attribute::kTensorStrides, strides)
      .set(Attribute::kTensorAlignment, alignment)
      .finalize();
  return made;
}

DeviceState& state_of(int device) {
  static auto* const states = new DeviceState[kMaxDevices];
  return states[device];
}

Handle handle_of(int device) {
  DeviceState& state = state_of(device);
  if (state.handle || state.failed) return state.handle;
  if (!opened().library.handle) {
    state.failed = true;
    state.why = opened().library.missing;
    return nullptr;
  }
  if (const int status = f().create(&state.handle); status != 0) {
    state.failed = true;
    state.handle = nullptr;
    state.why =
        message_of("cuDNN of ", opened().library.path, " does not start: ", text_of(status));
  }
  return state.handle;
}

std::vector<Plan> plans_for(Handle handle, const Descriptor& graph, const Rules& rules,
                            size_t most) {
  std::vector<Plan> plans;
  for (const int mode : {kHeuristicsA, kHeuristicsFallback}) {
    std::vector<Descriptor> configs;
    try {
      configs = configs_for(graph, mode);
    } catch (const Refusal& refusal) {
      if (logs()) log(message_of("heuristics ", mode, ": ", refusal.text));
      continue;
    }
    for (Descriptor& config : configs) {
      try {
        const std::vector<int> notes = notes_of(config);
        if ((rules.deterministic && has(notes, Note::kAnyOrder)) ||
            (!rules.tensor_cores && has(notes, Note::kTensorCores)) ||
            (!rules.shorter_inputs && has(notes, Note::kShorterInputs)))
          continue;
        Plan plan;
        plan.made = Descriptor(Kind::kPlan);
        plan.made.set(Attribute::kPlanHandle, Type::kHandle, 1, &handle)
            .set(Attribute::kPlanConfig, config)
            .finalize();
        int64_t workspace = 0;
        plan.made.get(Attribute::kPlanWorkspace, Type::kInt64, 1, &workspace);
        plan.workspace = static_cast<size_t>(std::max<int64_t>(workspace, 0));
        if (plan.workspace > rules.workspace) continue;
        plan.config = std::move(config);
        plans.push_back(std::move(plan));
      } catch (const Refusal& refusal) {  // this engine does not take it: the next one may
        if (logs()) log(message_of("engine: ", refusal.text));
      }
      if (plans.size() == most) return plans;
    }
    if (!plans.empty()) break;
  }
  return plans;
}

void execute(Handle handle, const Plan& plan, const std::vector<int64_t>& ids,
             const std::vector<void*>& pointers, void* workspace, Stream stream) {
  check(f().set_stream(handle, stream), "stream", 0);
  Descriptor pack(Kind::kVariantPack);
  pack.set(Attribute::kPackIds, ids)
      .set(Attribute::kPackPointers, Type::kPointer, static_cast<int64_t>(pointers.size()),
           pointers.data())
      .set(Attribute::kPackWorkspace, Type::kPointer, 1, &workspace)
      .finalize();
  check(f().execute(handle, plan.made.raw(), pack.raw()), "execution", 0);
}

bool logs() {
  static const bool wanted = std::getenv("FLAMBEAU_CUDNN_LOG") != nullptr;
  return wanted;
}

void log(const std::string& line) { std::fprintf(stderr, "flambeau cudnn: %s\n", line.c_str()); }

}  // namespace cudnn
}  // namespace fb::cuda
