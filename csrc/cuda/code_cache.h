// Compiled kernels on the disk, shared by the processes of a user.
#pragma once

#include <optional>
#include <string>

namespace fb::cuda {

// $FLAMBEAU_CUDA_CACHE, or below $XDG_CACHE_HOME or ~/.cache; empty: nothing is kept.
std::string cache_folder();

// By everything that the code depends on. An entry that was damaged is as if it were not there.
std::optional<std::string> load_code(const std::string& key);
// Does nothing where the folder cannot be written to.
void store_code(const std::string& key, const std::string& code);

}  // namespace fb::cuda
