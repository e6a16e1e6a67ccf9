// Libraries of NVIDIA's, found where PyPI's packages put them or where the system has them.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fb::cuda {

// The folders of Python packages, in the order of sys.path; set by the binding, which knows them.
inline std::vector<std::string> (*package_folders)() = nullptr;

struct Library {
  void* handle = nullptr;    // null: there is none that can be used
  std::string path = {};     // as it was found
  std::string missing = {};  // why there is none, and what would help
  size_t version = 0;        // as the library counts; of CUDA itself: 13010 for 13.1
};

// Opens a library from the path in an environment variable, or else from the first place that has
// it: this process, the folders of Python packages, the system. `files` are names by preference
// ("libnvrtc.so.13"); `folders` are where PyPI's packages have them ("nvidia/cu13/lib").
Library open_library(const char* variable, std::span<const char* const> files,
                     std::span<const char* const> folders);

// Opens every library of the same folder whose file name begins with `prefix`, for a library that
// opens parts of itself by name: packages of PyPI do not tell it its own folder, but what is loaded
// already is found.
void open_parts(const Library& library, const char* prefix);

// "13.1" for CUDA's number 13010.
std::string version_text(size_t version);

// The functions of a library, by name. A table of them derives from it, and has members like
//   int (*create)(Handle* handle) = find("cudnnCreate");
class Symbols {
 public:
  explicit Symbols(const Library& library) : library_(library.handle) {}

  struct Symbol {
    void* address;
    template <class F>
    operator F*() const {
      return reinterpret_cast<F*>(address);
    }
  };
  Symbol find(const char* name) {
    const Symbol found = find_newer(name);
    if (!found.address && !absent_) absent_ = name;
    return found;
  }
  // Null in versions that do without it.
  Symbol find_newer(const char* name) const;

  const char* absent() const { return absent_; }  // the first that should be there and is not

 private:
  void* library_;
  const char* absent_ = nullptr;
};

// A library that a package of PyPI has.
struct Wanted {
  const char* name;  // for messages
  const char* variable;
  const char* package;
  std::vector<const char*> files, folders;
};
Library open_library(const Wanted& wanted);
void refuse_old(Library& library, const Wanted& wanted);

// A library with a table of its functions, which are null where it is missing.
template <class Functions>
struct Opened {
  explicit Opened(const Wanted& wanted) : library(open_library(wanted)), f(library) {
    if (library.handle && f.absent()) refuse_old(library, wanted);
  }

  Library library;
  Functions f;
};

// What a function makes when it is first asked for. Opening a library takes Python's lock, so that
// no other lock may be held meanwhile, not that of a static variable either: whoever holds Python's
// may be waiting for it. Threads that come at the same time make one each, and the first is kept.
template <auto make>
const auto& made_once() {
  using Made = decltype(make());
  static constinit std::atomic<const Made*> kept{nullptr};
  if (const Made* const made = kept.load(std::memory_order_acquire)) [[likely]]
    return *made;
  auto fresh = std::make_unique<const Made>(make());
  const Made* before = nullptr;
  if (kept.compare_exchange_strong(before, fresh.get(), std::memory_order_acq_rel))
    return *fresh.release();
  return *before;
}

}  // namespace fb::cuda
