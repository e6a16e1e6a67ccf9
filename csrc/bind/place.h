// Installs what finds places in the user's program.
#pragma once

namespace fb::bind {

// `folder`: where the package's own files are, with a separator at the end.
void install_places(const char* folder);

}  // namespace fb::bind
