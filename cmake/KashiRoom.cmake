# Flags that every target of ours has. INTERFACE, so that tests, benches and fuzzers get the same.
add_library(kashi_flags INTERFACE)
target_compile_options(kashi_flags INTERFACE -Wall -Wextra -Wno-sign-compare $<$<BOOL:${KASHI_WERROR}>:-Werror>
  # g++ 12 sees an uninitialised read in abseil's InlinedVector where there is none.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
if(KASHI_SANITIZE)
  target_compile_options(kashi_flags INTERFACE -fsanitize=${KASHI_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(kashi_flags INTERFACE -fsanitize=${KASHI_SANITIZE})
  # No fuzzer links a test or the command: they need none of its instrumentation.
  target_compile_options(kashi_flags INTERFACE
    $<$<AND:$<BOOL:${KASHI_FUZZ}>,$<BOOL:$<TARGET_PROPERTY:KASHI_UNFUZZED>>>:-fno-sanitize=fuzzer-no-link>)
endif()
# Most tests' code runs once: to optimise it costs more than it saves.
if(KASHI_SANITIZE)
  set(unoptimised -O0)
else()
  set(unoptimised -O1)
endif()
target_compile_options(kashi_flags INTERFACE
  $<$<AND:$<BOOL:$<TARGET_PROPERTY:KASHI_UNOPTIMISED>>,$<NOT:$<CONFIG:Debug>>>:${unoptimised}>)

# kashi_precompile(TARGET CARRIER header…)
#
# With KASHI_PRECOMPILED_HEADERS, the files of TARGET begin with these headers of others. They are precompiled once for the
# target CARRIER and all that name it; those must have its flags. Never our own headers: a change would rebuild everything.
function(kashi_precompile target carrier)
  if(NOT KASHI_PRECOMPILED_HEADERS)
    return()
  endif()
  if(target STREQUAL carrier)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${carrier})
  endif()
  # Without times in it the same file is made each time, and ccache knows what was compiled with it.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
endfunction()
set(KASHI_COMMON_HEADERS <algorithm> <cmath> <complex> <functional> <limits> <map> <memory> <optional> <random> <sstream>
    <string> <utility> <variant> <vector> <absl/algorithm/container.h> <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h>
    <absl/container/inlined_vector.h> <absl/functional/function_ref.h> <absl/hash/hash.h> <absl/status/statusor.h>
    <absl/strings/numbers.h> <absl/strings/str_cat.h> <absl/strings/str_format.h> <absl/strings/str_join.h>
    <absl/strings/str_split.h> <absl/types/span.h>)

# kashi_unity(TARGET alone source…)
#
# With KASHI_UNITY_BUILD, the files of TARGET are compiled in groups: most of the time goes into headers, which a group reads
# once. A file's group follows from the first letter of its name's second word alone, so that a new file disturbs no other
# group; the builder's files, xla_*, have groups of their own. What two files of a group define in their anonymous namespaces must have different names; files that the regular
# expression `alone` matches keep theirs and are compiled as they are.
set(KASHI_UNITY_LETTERS a-c d-f g-i j-l m-o p-r s-u v-z)
function(kashi_unity target alone)
  if(NOT KASHI_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME_WE)
    if(NOT alone OR NOT name MATCHES "^(${alone})$")
      string(REGEX REPLACE "_test$" "" word ${name})
      string(REGEX MATCH "^xla_" family ${word})
      string(REGEX REPLACE "^[^_]*_" "" word ${word})
      foreach(letters ${KASHI_UNITY_LETTERS})
        if(word MATCHES "^[${letters}]")
          set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${family}${letters})
        endif()
      endforeach()
    endif()
  endforeach()
endfunction()

# kashi_room(NAME [LONG_TESTS] [FOLDERS folder…] [DEPENDS room…] [LIBRARIES target…] [ALONE regex])
#
# Makes the library kashi_NAME (alias kashi::NAME) of the folder's *.cc files. Beside a file x.cc may stand
#   x_test.cc    a unit test:       all of a room's tests are one program, kashi_NAME_test
#   x_bench.cc   a micro benchmark: all of a room's benchmarks are one program, kashi_NAME_bench
# so that adding a file to a room needs no edit here. FOLDERS: folders within the room's that have files of it, too. LONG_TESTS says that its tests loop for long: they are optimised,
# and ctest starts them first. ALONE: see kashi_unity.
# Kernels that unroll by vectors: with all of a fuzzer's instrumentation a compiler takes ten minutes for one. What can go wrong
# there is an access beyond an array, which is left.
set(KASHI_UNROLLED_KERNELS kernels/interleave_kernel.cc kernels/streamed_transpose.cc kernels/transpose_kernels.cc)

function(kashi_room name)
  cmake_parse_arguments(ROOM "LONG_TESTS" "ALONE" "FOLDERS;DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.h)
  foreach(folder IN LISTS ROOM_FOLDERS)
    file(GLOB folder_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${folder}/*.cc)
    file(GLOB folder_headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${folder}/*.h)
    list(APPEND sources ${folder_sources})
    list(APPEND headers ${folder_headers})
  endforeach()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(benches ${sources})
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")

  foreach(sanitizer undefined fuzzer-no-link)
    if(KASHI_SANITIZE MATCHES ${sanitizer})
      set(kernels ${KASHI_UNROLLED_KERNELS})
      list(TRANSFORM kernels PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${name}/)
      set_property(SOURCE ${kernels} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=${sanitizer})
      set_property(SOURCE ${kernels} PROPERTY SKIP_PRECOMPILE_HEADERS ON)  # those have the target's options
    endif()
  endforeach()

  list(TRANSFORM ROOM_DEPENDS PREPEND kashi:: OUTPUT_VARIABLE rooms)
  add_library(kashi_${name} STATIC ${sources} ${headers})
  add_library(kashi::${name} ALIAS kashi_${name})
  set_target_properties(kashi_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(kashi_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_compile_features(kashi_${name} PUBLIC cxx_std_17)
  target_link_libraries(kashi_${name} PUBLIC ${rooms} ${ROOM_LIBRARIES} PRIVATE $<BUILD_INTERFACE:kashi_flags>)
  kashi_precompile(kashi_${name} kashi_base ${KASHI_COMMON_HEADERS})
  kashi_unity(kashi_${name} "${ROOM_ALONE}" ${sources})
  set_property(GLOBAL APPEND PROPERTY KASHI_ROOMS kashi_${name})

  if(KASHI_TESTS AND tests)
    add_executable(kashi_${name}_test ${tests})
    target_link_libraries(kashi_${name}_test PRIVATE kashi::${name} kashi_flags GTest::gmock GTest::gtest_main)
    # g++ 12 sees a write outside of empty vectors in literal_util_test.cc, where there is none.
    target_compile_options(kashi_${name}_test PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-free-nonheap-object>)
    target_compile_definitions(kashi_${name}_test PRIVATE KASHI_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
    set(carrier kashi_base_test)
    set_target_properties(kashi_${name}_test PROPERTIES KASHI_UNFUZZED ON)
    add_test(NAME ${name} COMMAND kashi_${name}_test)
    if(ROOM_LONG_TESTS)
      set(carrier kashi_literal_test)
      set_tests_properties(${name} PROPERTIES COST 100)
    else()
      set_target_properties(kashi_${name}_test PROPERTIES KASHI_UNOPTIMISED ON)
    endif()
    kashi_precompile(kashi_${name}_test ${carrier} ${KASHI_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
    kashi_unity(kashi_${name}_test "${ROOM_ALONE}" ${tests})
  endif()
  if(KASHI_BENCH AND benches)
    add_executable(kashi_${name}_bench ${benches})
    target_link_libraries(kashi_${name}_bench PRIVATE kashi::${name} kashi_flags benchmark::benchmark_main)
  endif()
endfunction()
