# Flags that every target of ours has. INTERFACE, so that tests, benches and fuzzers get the same.
add_library(kashi_flags INTERFACE)
target_compile_options(kashi_flags INTERFACE -Wall -Wextra -Wno-sign-compare $<$<BOOL:${KASHI_WERROR}>:-Werror>
  # __FILE__ and debug information name files from the root of the sources, so that each clone makes the same code.
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
  # g++ 12 sees an uninitialised read in abseil's InlinedVector where there is none.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  # g++ collects garbage from 128 MB on, which takes a tenth of its time. One file takes up to 1.8 GB without it.
  "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=1000000>")
if(KASHI_SANITIZE)
  target_compile_options(kashi_flags INTERFACE -fsanitize=${KASHI_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(kashi_flags INTERFACE -fsanitize=${KASHI_SANITIZE})
  # No fuzzer links a test: tests need none of its instrumentation. Nor do they need that of undefined behaviour in a
  # build for fuzzers: it is there to find errors of the library, and doubles the time that tests take to compile.
  target_compile_options(kashi_flags INTERFACE
    $<$<AND:$<BOOL:${KASHI_FUZZ}>,$<BOOL:$<TARGET_PROPERTY:KASHI_UNFUZZED>>>:-fno-sanitize=fuzzer-no-link,undefined>)
endif()
# How far a target of ours is optimised, if not as the build type says: its property KASHI_OPTIMISATION, such as -O1. Most
# code of tests runs once, so to optimise it costs more time than it saves; the same holds for the command's, where
# all long loops are in the rooms. Only the rooms that loop over elements gain from -O3.
target_compile_options(kashi_flags INTERFACE $<$<NOT:$<CONFIG:Debug>>:$<TARGET_PROPERTY:KASHI_OPTIMISATION>>)
# kashi_optimise(TARGET RELEASE SANITIZED): the property for a release build, and for one with sanitizers; "" changes
# nothing.
function(kashi_optimise target release sanitized)
  set(value "${release}")
  if(KASHI_SANITIZE)
    set(value "${sanitized}")
  endif()
  set_target_properties(${target} PROPERTIES KASHI_OPTIMISATION "${value}")
endfunction()

# kashi_precompile(TARGET CARRIER header…)
#
# With KASHI_PRECOMPILED_HEADERS, the files of TARGET begin with these headers of others. They are precompiled once for
# the target CARRIER and all that name it; those must have its flags. Never our own headers: a change would rebuild
# everything.
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
# kashi_precompile_room(TARGET): the common headers for a room, from a carrier for all rooms that are optimised alike.
function(kashi_precompile_room target)
  if(NOT KASHI_PRECOMPILED_HEADERS)
    return()
  endif()
  get_target_property(level ${target} KASHI_OPTIMISATION)
  set(carrier kashi_headers${level})
  if(NOT TARGET ${carrier})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${carrier}.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "// Carries precompiled headers (cmake/KashiRoom.cmake).\n")
    add_library(${carrier} OBJECT ${source})
    set_target_properties(${carrier} PROPERTIES POSITION_INDEPENDENT_CODE ON KASHI_OPTIMISATION "${level}")
    target_compile_features(${carrier} PUBLIC cxx_std_17)
    target_link_libraries(${carrier} PRIVATE kashi_flags absl::flat_hash_map absl::statusor absl::str_format Threads::Threads)
    kashi_precompile(${carrier} ${carrier} ${KASHI_COMMON_HEADERS})
  endif()
  kashi_precompile(${target} ${carrier})
endfunction()
set(KASHI_COMMON_HEADERS <algorithm> <cmath> <complex> <functional> <limits> <map> <memory> <optional> <random> <sstream>
    <string> <utility> <variant> <vector> <absl/algorithm/container.h> <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h>
    <absl/container/inlined_vector.h> <absl/functional/function_ref.h> <absl/hash/hash.h> <absl/status/statusor.h>
    <absl/strings/numbers.h> <absl/strings/str_cat.h> <absl/strings/str_format.h> <absl/strings/str_join.h>
    <absl/strings/str_split.h> <absl/types/span.h>)

# kashi_unity(TARGET alone parts source…)
#
# With KASHI_UNITY_BUILD, the files of TARGET are compiled in groups: most of the time goes into headers, which a group
# reads once. A file's group follows from its name alone, so that a new file disturbs no other group: from the first
# letter of the second word of the name, or, with PARTS (a list of ranges of letters), of the last word. What two files
# of a group define in their anonymous namespaces must have different names; files that the regular expression `alone`
# matches keep theirs and are compiled as they are.
set(KASHI_UNITY_LETTERS a-f g-l m-r s-z)
function(kashi_unity target alone parts)
  if(NOT KASHI_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(parts)
    set(letters_of_groups ${parts})
    set(not_that_word "^.*_")
  else()
    set(letters_of_groups ${KASHI_UNITY_LETTERS})
    set(not_that_word "^[^_]*_")
  endif()
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME_WE)
    if(NOT alone OR NOT name MATCHES "^(${alone})$")
      string(REGEX REPLACE "_test$" "" word ${name})
      string(REGEX REPLACE ${not_that_word} "" word ${word})
      foreach(letters ${letters_of_groups})
        if(word MATCHES "^[${letters}]")
          set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${letters})
        endif()
      endforeach()
    endif()
  endforeach()
endfunction()

# kashi_room(NAME [LONG_TESTS] [O1 | O2] [FOLDERS folder…] [DEPENDS room…] [LIBRARIES target…] [ALONE regex]
#            [PARTS letters…])
#
# Makes the library kashi_NAME (alias kashi::NAME) of the *.cc files of the folder NAME. A room in a folder of rooms is
# named FOLDER/NAME: its library is kashi_FOLDER_NAME, alias kashi::FOLDER_NAME. Beside a file x.cc may stand
#   x_test.cc    a unit test:       all of a room's tests are one program, kashi_NAME_test; those of a folder of rooms
#                too
#   x_bench.cc   a micro benchmark: all of a room's benchmarks are one program, kashi_NAME_bench
# so that adding a file to a room needs no edit here. FOLDERS: folders of the room that hold more of its files, the
# lowest first: one may use those before it.
# LONG_TESTS: its tests loop for long, so they are optimised a little, and ctest starts them first. O2: the room has no
# loops over elements that -O3 makes faster. O1: nothing in the room runs for long, so a quick build counts for more.
# ALONE, PARTS: see kashi_unity.

# kashi_sanitize_kernels(source…): for kernels that unroll by vectors. With all sanitizers a compiler takes ten minutes
# for one of them. What can go wrong in them is an access outside of an array, so AddressSanitizer is left on; with its
# checks as calls, one takes a minute. Nothing changes in a build without sanitizers.
function(kashi_sanitize_kernels)
  if(NOT KASHI_SANITIZE)
    return()
  endif()
  foreach(sanitizer undefined fuzzer-no-link)
    if(KASHI_SANITIZE MATCHES ${sanitizer})
      set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=${sanitizer})
    endif()
  endforeach()
  if(KASHI_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -mllvm -asan-instrumentation-with-call-threshold=0)
  endif()
  set_property(SOURCE ${ARGN} PROPERTY SKIP_PRECOMPILE_HEADERS ON)  # those have the target's options
endfunction()

function(kashi_room place)
  cmake_parse_arguments(ROOM "LONG_TESTS;O1;O2" "ALONE" "FOLDERS;DEPENDS;LIBRARIES;PARTS" ${ARGN})
  string(REPLACE / _ name ${place})
  string(REGEX REPLACE "/.*" "" house ${place})
  set(sources)
  set(headers)
  list(TRANSFORM ROOM_FOLDERS PREPEND ${place}/ OUTPUT_VARIABLE folders)
  foreach(folder IN LISTS place folders)
    file(GLOB folder_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc)
    file(GLOB folder_headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.h)
    list(APPEND sources ${folder_sources})
    list(APPEND headers ${folder_headers})
  endforeach()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(benches ${sources})
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")

  string(REPLACE / _ rooms "${ROOM_DEPENDS}")
  list(TRANSFORM rooms PREPEND kashi::)
  add_library(kashi_${name} STATIC ${sources} ${headers})
  add_library(kashi::${name} ALIAS kashi_${name})
  set_target_properties(kashi_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(kashi_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_compile_features(kashi_${name} PUBLIC cxx_std_17)
  target_link_libraries(kashi_${name} PUBLIC ${rooms} ${ROOM_LIBRARIES} PRIVATE $<BUILD_INTERFACE:kashi_flags>)
  set(level)
  if(ROOM_O1)
    set(level -O1)
  elseif(ROOM_O2)
    set(level -O2)
  endif()
  kashi_optimise(kashi_${name} "${level}" "")
  kashi_precompile_room(kashi_${name})
  kashi_unity(kashi_${name} "${ROOM_ALONE}" "${ROOM_PARTS}" ${sources})
  set_property(GLOBAL APPEND PROPERTY KASHI_ROOMS kashi_${name})
  # Whether it is above rooms of HLO, directly or not.
  foreach(below IN LISTS ROOM_DEPENDS)
    string(REPLACE / _ below ${below})
    get_property(uses_hlo GLOBAL PROPERTY KASHI_USES_HLO_${below})
    if(uses_hlo OR below MATCHES "^hlo_")
      set_property(GLOBAL PROPERTY KASHI_USES_HLO_${name} ON)
    endif()
  endforeach()

  if(KASHI_TESTS AND tests)
    kashi_room_tests(${house} ${name} "${tests}" "${ROOM_ALONE}" ${ROOM_LONG_TESTS})
  endif()
  if(KASHI_BENCH AND benches)
    add_executable(kashi_${name}_bench ${benches})
    target_link_libraries(kashi_${name}_bench PRIVATE kashi::${name} kashi_flags benchmark::benchmark_main)
  endif()
endfunction()

# kashi_room_tests(PROGRAM ROOM tests alone long): adds a room's tests to the program kashi_PROGRAM_test, which the
# first room makes.
function(kashi_room_tests program room tests alone long)
  if(KASHI_TESTED_ROOMS AND NOT program IN_LIST KASHI_TESTED_ROOMS)
    return()
  endif()
  set(target kashi_${program}_test)
  if(NOT TARGET ${target})
    add_executable(${target})
    target_link_libraries(${target} PRIVATE kashi_flags GTest::gmock GTest::gtest_main)
    # g++ 12 sees a write outside of empty vectors in literal_util_test.cc, where there is none.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-free-nonheap-object>)
    target_compile_definitions(${target} PRIVATE KASHI_TEST_DATA="tests/data")
    set_target_properties(${target} PROPERTIES KASHI_UNFUZZED ON)
    add_test(NAME ${program} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set(kind SHORT)
    if(long)
      set(kind LONG)
      set_tests_properties(${program} PROPERTIES COST 100 TIMEOUT 3600)  # under sanitizers it takes long
      kashi_optimise(${target} -O1 "")
    else()
      kashi_optimise(${target} -O0 -O0)
    endif()
    # The first program of a kind precompiles the headers for all others.
    get_property(carrier GLOBAL PROPERTY KASHI_CARRIER_OF_${kind}_TESTS)
    if(NOT carrier)
      set(carrier ${target})
      set_property(GLOBAL PROPERTY KASHI_CARRIER_OF_${kind}_TESTS ${carrier})
    endif()
    kashi_precompile(${target} ${carrier} ${KASHI_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  target_sources(${target} PRIVATE ${tests})
  target_link_libraries(${target} PRIVATE kashi::${room})
  get_property(uses_hlo GLOBAL PROPERTY KASHI_USES_HLO_${room})
  if(uses_hlo)
    target_link_libraries(${target} PRIVATE kashi::hlo)  # tests read their programs from text, and verify them
  endif()
  kashi_unity(${target} "${alone}" "" ${tests})
endfunction()

# kashi_split_tests(PROGRAM): ctest runs the room's tests as two halves, PROGRAM and PROGRAM_2, at the same time.
function(kashi_split_tests program)
  if(NOT TEST ${program})
    return()
  endif()
  get_test_property(${program} COST cost)
  get_test_property(${program} TIMEOUT timeout)
  add_test(NAME ${program}_2 COMMAND kashi_${program}_test WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${program}_2 PROPERTIES COST ${cost} TIMEOUT ${timeout} ENVIRONMENT "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=1")
  set_tests_properties(${program} PROPERTIES ENVIRONMENT "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=0")
endfunction()
