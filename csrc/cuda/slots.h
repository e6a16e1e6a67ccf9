// How the functions of the device's table are declared, with the signatures that its slots have.
#pragma once

#define FB_DECLARE_CUDA(family, name) decltype(::fb::family::name)::Function name;
