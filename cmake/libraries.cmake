# oneDNN and OpenBLAS from their PyPI packages: one library file of each goes into the wheel, with its licence.
# libjpeg-turbo from the system: its code goes into the module itself if it was built for that.
add_library(flambeau_libraries INTERFACE)

function(fb_python_path output code)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "${code}" OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET)
  set(${output} "${found}" PARENT_SCOPE)
endfunction()

# Put a library into the wheel without its table of local symbols, up to a fifth of the file, which is not needed at
# run time.
function(fb_install_small library)
  get_filename_component(name ${library} NAME)
  set(small ${CMAKE_CURRENT_BINARY_DIR}/lib/${name})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/lib)
  set(failed TRUE)
  if(CMAKE_STRIP)
    execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded -o ${small} ${library} RESULT_VARIABLE failed ERROR_QUIET)
  endif()
  if(failed)
    set(small ${library})
  endif()
  install(FILES ${small} DESTINATION flambeau/lib)
endfunction()

if(FB_ONEDNN)
  # The package puts its files below the environment's prefix; in an isolated build that is not sys.prefix, so
  # its own list of files is used.
  fb_python_path(FB_ONEDNN_HEADER "from importlib.metadata import files
print(next(f.locate().resolve() for f in files('onednn-devel-cpu-gomp') if f.name == 'dnnl.h' and 'oneapi' not in str(f)))")
  fb_python_path(FB_ONEDNN_LIBRARY "from importlib.metadata import files
print(next(f.locate().resolve() for f in files('onednn-cpu-gomp') if f.name == 'libdnnl.so.3'))")
  fb_python_path(FB_ONEDNN_LICENSE "from importlib.metadata import files
print(next(f.locate().resolve() for f in files('onednn-devel-cpu-gomp') if f.name == 'LICENSE'))")
  if(EXISTS "${FB_ONEDNN_HEADER}" AND EXISTS "${FB_ONEDNN_LIBRARY}")
    get_filename_component(FB_ONEDNN_INCLUDE ${FB_ONEDNN_HEADER} DIRECTORY)
    target_include_directories(flambeau_libraries SYSTEM INTERFACE ${FB_ONEDNN_INCLUDE})
    target_compile_definitions(flambeau_libraries INTERFACE FB_HAVE_ONEDNN)
    # GNU's OpenMP runtime, which it needs, is told to start no threads: csrc/cpu/onednn.cpp.
    target_link_libraries(flambeau_libraries INTERFACE ${FB_ONEDNN_LIBRARY} gomp)
    fb_install_small(${FB_ONEDNN_LIBRARY})
    install(FILES ${FB_ONEDNN_LICENSE} DESTINATION flambeau/lib RENAME LICENSE.onednn)
  else()
    message(STATUS "oneDNN not found: matrix products use OpenBLAS or plain kernels")
  endif()
endif()

if(FB_OPENBLAS)
  fb_python_path(FB_OPENBLAS_LIBRARY "import scipy_openblas64 as b, pathlib
print(next(pathlib.Path(b.get_lib_dir()).glob('libscipy_openblas64_*.so')))")
  fb_python_path(FB_OPENBLAS_INCLUDE "import scipy_openblas64 as b
print(b.get_include_dir())")
  fb_python_path(FB_OPENBLAS_LICENSE "from importlib.metadata import files
print(next(f.locate().resolve() for f in files('scipy-openblas64') if 'LICENSE' in f.name.upper()))")
  if(EXISTS "${FB_OPENBLAS_LIBRARY}")
    target_include_directories(flambeau_libraries SYSTEM INTERFACE ${FB_OPENBLAS_INCLUDE})
    target_compile_definitions(flambeau_libraries INTERFACE FB_HAVE_OPENBLAS)
    target_link_libraries(flambeau_libraries INTERFACE ${FB_OPENBLAS_LIBRARY})
    fb_install_small(${FB_OPENBLAS_LIBRARY})
    if(EXISTS "${FB_OPENBLAS_LICENSE}")
      install(FILES ${FB_OPENBLAS_LICENSE} DESTINATION flambeau/lib RENAME LICENSE.openblas)
    endif()
  else()
    message(STATUS "OpenBLAS not found: linear algebra uses plain kernels where it can")
  endif()
endif()

if(FB_JPEG)
  include(CheckCXXSourceCompiles)
  find_path(FB_JPEG_INCLUDE jpeglib.h)
  find_library(FB_JPEG_ARCHIVE libjpeg.a)
  find_library(FB_JPEG_SHARED jpeg)
  find_file(FB_JPEG_LICENSE NAMES LICENSE.md copyright NO_DEFAULT_PATH
            PATHS /usr/share/licenses/libjpeg-turbo /usr/share/doc/libjpeg-turbo
                  /usr/share/doc/libjpeg62-turbo-dev /usr/share/doc/libjpeg-turbo8-dev)

  # Another library of the process may have another version of it; and code that was built for programs only can
  # go into a module if its symbols stay hidden.
  set(FB_JPEG_HIDDEN -Wl,--exclude-libs,libjpeg.a)
  # Whether a module can be linked with it. Decoders older than libjpeg-turbo give other pixels.
  function(fb_check_jpeg library output)
    set(CMAKE_REQUIRED_QUIET TRUE)
    set(CMAKE_REQUIRED_FLAGS -fPIC)
    set(CMAKE_REQUIRED_INCLUDES ${FB_JPEG_INCLUDE})
    set(CMAKE_REQUIRED_LINK_OPTIONS -shared ${FB_JPEG_HIDDEN})
    set(CMAKE_REQUIRED_LIBRARIES ${library})
    check_cxx_source_compiles("
      #include <cstdio>
      #include <jpeglib.h>
      #ifndef LIBJPEG_TURBO_VERSION
      #error not libjpeg-turbo
      #endif
      extern \"C\" void use(jpeg_decompress_struct* from, jpeg_compress_struct* to) {
        jpeg_start_decompress(from);
        jpeg_start_compress(to, TRUE);
      }
      int main() {}" ${output})
  endfunction()

  set(FB_JPEG_LIBRARY "")
  if(FB_JPEG_INCLUDE AND FB_JPEG_ARCHIVE AND FB_JPEG_LICENSE)
    fb_check_jpeg(${FB_JPEG_ARCHIVE} FB_JPEG_ARCHIVE_LINKS)
    if(FB_JPEG_ARCHIVE_LINKS)
      set(FB_JPEG_LIBRARY ${FB_JPEG_ARCHIVE})
      target_link_options(flambeau_libraries INTERFACE ${FB_JPEG_HIDDEN})
      install(FILES ${FB_JPEG_LICENSE} DESTINATION flambeau/lib RENAME LICENSE.libjpeg-turbo)
    endif()
  endif()
  if(FB_JPEG_INCLUDE AND FB_JPEG_SHARED AND NOT FB_JPEG_LIBRARY)
    fb_check_jpeg(${FB_JPEG_SHARED} FB_JPEG_SHARED_LINKS)
    if(FB_JPEG_SHARED_LINKS)
      set(FB_JPEG_LIBRARY ${FB_JPEG_SHARED})
    endif()
  endif()
  if(FB_JPEG_LIBRARY)
    file(GLOB FB_IMAGE CONFIGURE_DEPENDS csrc/image/*.cpp)
    set_source_files_properties(${FB_IMAGE} PROPERTIES COMPILE_DEFINITIONS FB_HAVE_JPEG
                                INCLUDE_DIRECTORIES ${FB_JPEG_INCLUDE})
    target_link_libraries(flambeau_libraries INTERFACE ${FB_JPEG_LIBRARY})
  else()
    message(STATUS "libjpeg-turbo not found: JPEG files are decoded by Pillow")
  endif()
endif()
# Its loops are over bytes, many of which fit into a register. GCC 12 crashes on headers that were precompiled at
# another level of optimisation.
set_source_files_properties(csrc/image/png_filters.cpp PROPERTIES COMPILE_OPTIONS -O3 SKIP_PRECOMPILE_HEADERS ON)
target_link_libraries(flambeau_libraries INTERFACE ${CMAKE_DL_LIBS})
