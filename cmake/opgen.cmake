# Runs the generator while configuring, and again whenever the table or the generator changes. It only touches
# files whose text changes, so a new operator rebuilds its own family.
set(FB_GENERATED ${CMAKE_CURRENT_BINARY_DIR}/generated)
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR} PYTHONDONTWRITEBYTECODE=1
          ${Python_EXECUTABLE} -m opgen --out ${FB_GENERATED}
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
  RESULT_VARIABLE FB_OPGEN_RESULT ERROR_VARIABLE FB_OPGEN_ERROR)
if(FB_OPGEN_RESULT)
  message(FATAL_ERROR "opgen refused the table:\n${FB_OPGEN_ERROR}")
endif()
file(GLOB_RECURSE FB_OPGEN_INPUTS CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/opgen/*.py
     ${CMAKE_CURRENT_SOURCE_DIR}/opgen/help/*.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${FB_OPGEN_INPUTS})

file(GLOB FB_GENERATED_LOOPS ${FB_GENERATED}/gen/loops/*.cpp)
file(GLOB FB_GENERATED_SOURCES ${FB_GENERATED}/gen/*.cpp ${FB_GENERATED}/gen/cpu/*.cpp ${FB_GENERATED}/gen/cuda/*.cpp
     ${FB_GENERATED}/gen/ops/*.cpp
     ${FB_GENERATED}/gen/autograd/*.cpp ${FB_GENERATED}/gen/bind/*.cpp)
