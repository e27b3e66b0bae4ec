# Libraries that Kashi can be built without: KASHI_HAS_LAPACK, KASHI_HAS_CPU and KASHI_HAS_MPI say which are here.
#
# One line of CMake's output tells about each, with the command that installs it on Debian. What is not found is looked
# for again each time that CMake runs, so an old build folder takes what was installed since.

# kashi_optional(NAME TITLE FOUND PARTS package…): sets KASHI_HAS_NAME, or ends CMake where KASHI_NAME is ON and FOUND is
# false. TITLE says what the library is for, PARTS what is there or missing.
function(kashi_optional name title found parts)
  set(has OFF)
  list(JOIN ARGN " " packages)
  if(NOT KASHI_${name})
    set(answer "no (KASHI_${name}=${KASHI_${name}})")
  elseif(found)
    set(has ON)
    set(answer "yes (${parts})")
  else()
    set(answer "no (${parts} missing)")
    if(packages)
      set(answer "no (${parts} missing: apt-get install ${packages})")
    endif()
    if(NOT KASHI_${name} STREQUAL "AUTO")
      message(FATAL_ERROR "KASHI_${name}=${KASHI_${name}}, but ${title}: ${answer}")
    endif()
  endif()
  message(STATUS "${title}: ${answer}")
  set(KASHI_HAS_${name} ${has} PARENT_SCOPE)
  set(KASHI_${name}_ANSWER ${answer} PARENT_SCOPE)
endfunction()

# JAX's linear algebra calls.
set(found OFF)
if(KASHI_LAPACK)
  find_library(KASHI_LAPACK_LIBRARY lapack)
  find_library(KASHI_BLAS_LIBRARY blas)
  if(KASHI_LAPACK_LIBRARY AND KASHI_BLAS_LIBRARY)
    set(found ON)
  endif()
endif()
kashi_optional(LAPACK "LAPACK" "${found}" "LAPACK, BLAS" liblapack-dev libblas-dev)

# The compiled engine. 19.1 was the first release of LLVM 19.
set(found OFF)
set(parts)
set(packages)
if(KASHI_CPU AND NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(parts "an x86-64 processor")
elseif(KASHI_CPU)
  find_package(LLVM 19.1 CONFIG QUIET)
  find_library(KASHI_SLEEF_LIBRARY sleef)
  if(LLVM_FOUND AND KASHI_SLEEF_LIBRARY)
    set(found ON)
    set(parts "LLVM ${LLVM_PACKAGE_VERSION}")
  endif()
  if(NOT LLVM_FOUND)
    list(APPEND parts "LLVM 19")
    list(APPEND packages llvm-19-dev libzstd-dev)
  endif()
  if(NOT KASHI_SLEEF_LIBRARY)
    list(APPEND parts "SLEEF")
    list(APPEND packages libsleef-dev)
  endif()
  list(JOIN parts ", " parts)
endif()
kashi_optional(CPU "compiled engine" "${found}" "${parts}" ${packages})

# Programs on several machines.
set(found OFF)
if(KASHI_MPI)
  find_package(MPI 3.1 COMPONENTS C QUIET)  # its old C++ interface is not used
  set(found ${MPI_C_FOUND})
endif()
kashi_optional(MPI "MPI" "${found}" "MPI 3.1" libopenmpi-dev openmpi-bin)
