# The sources of CUDA kernels as text in the module, for NVRTC: csrc/cuda/sources.h.
set(FB_EMBEDDED ${CMAKE_CURRENT_BINARY_DIR}/embedded/cuda_sources.cpp)
file(GLOB_RECURSE FB_DEVICE_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/csrc/scalar/*.h
     ${CMAKE_CURRENT_SOURCE_DIR}/csrc/cuda/device/*.h ${CMAKE_CURRENT_SOURCE_DIR}/csrc/cuda/device/*.cuh
     ${FB_GENERATED}/gen/device/*.h)
add_custom_command(
  OUTPUT ${FB_EMBEDDED}
  COMMAND ${Python_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.py ${FB_EMBEDDED}
          ${CMAKE_CURRENT_SOURCE_DIR}/csrc ${FB_GENERATED} -- scalar cuda/device gen/device
  DEPENDS ${FB_DEVICE_SOURCES} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.py
  VERBATIM)
