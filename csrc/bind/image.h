// Image files, for flambeau.vision.io.
#pragma once

#include <nanobind/nanobind.h>

namespace fb::bind {

// Adds the decoders and encoders that this build has; Python asks Pillow for the others.
void add_image(nanobind::module_& m);

}  // namespace fb::bind
