// The sources that NVRTC compiles, as cmake/embed.py puts them into the module.
#pragma once

namespace fb::cuda {

struct Source {
  const char* name;  // as in #include
  const char* text;
};
extern const Source kSources[];  // ends with a null name
extern const char* const kSourcesDigest;

}  // namespace fb::cuda
