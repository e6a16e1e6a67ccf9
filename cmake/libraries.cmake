# oneDNN and OpenBLAS from their PyPI packages: one library file of each goes into the wheel, with its licence.
add_library(flambeau_libraries INTERFACE)

function(fb_python_path output code)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "${code}" OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET)
  set(${output} "${found}" PARENT_SCOPE)
endfunction()

# Put a library into the wheel without its table of local symbols, up to a fifth of the file, which nobody reads at
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
  # its own list of files tells.
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
    target_link_libraries(flambeau_libraries INTERFACE ${FB_ONEDNN_LIBRARY})
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
target_link_libraries(flambeau_libraries INTERFACE ${CMAKE_DL_LIBS})
