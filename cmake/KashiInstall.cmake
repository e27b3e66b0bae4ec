# `cmake --install` puts headers, libraries, the command and a CMake package in place, so that another project says
#   find_package(kashi REQUIRED)
#   target_link_libraries(its_target PRIVATE kashi::kashi)   # or one room, kashi::array; or kashi::compat, for code
#                                                            # that is written against XLA's headers
#   target_link_libraries(its_target PRIVATE kashi::cpu)     # the compiled engine; needs LLVM 19 and SLEEF to link
# Without CMake: pkg-config --cflags --libs kashi.
# The build folder can be used in the same two ways, without installation: -Dkashi_DIR=FOLDER, PKG_CONFIG_PATH=FOLDER.
# Which rooms there are is told by the global property KASHI_ROOMS (kashi_room appends to it).
option(KASHI_INSTALL "Make the install rules" ${PROJECT_IS_TOP_LEVEL})
if(NOT KASHI_INSTALL)
  return()
endif()

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(KASHI_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/kashi)

# The headers that users include (kashi/public_headers.txt), and those that these include; nothing else is installed.
file(STRINGS ${PROJECT_SOURCE_DIR}/kashi/public_headers.txt headers REGEX "^[^#]")
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS kashi/public_headers.txt)
list(TRANSFORM headers PREPEND kashi/)
set(seen ${headers})
while(headers)
  list(POP_FRONT headers header)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${header})  # the others are generated
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} lines REGEX "^#include \"kashi/")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" included "${line}")
      if(NOT included IN_LIST seen)
        list(APPEND headers ${included})
        list(APPEND seen ${included})
      endif()
    endforeach()
  endif()
endwhile()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/kashi/proto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kashi FILES_MATCHING PATTERN "*.proto")

get_property(targets GLOBAL PROPERTY KASHI_ROOMS)
# The generated protobuf messages: their .pb.h files lie in the build folder, under the include path they are used by.
if(TARGET kashi_proto_messages)
  list(APPEND targets kashi_proto_messages)
  install(DIRECTORY $<TARGET_PROPERTY:kashi_proto_messages,KASHI_GENERATED_DIR>/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.pb.h")
endif()

# Headers under XLA's own paths (xla/…): in a folder of their own, so that only targets that link kashi::compat see
# them.
if(TARGET kashi_compat)
  list(APPEND targets kashi_compat)
  set_target_properties(kashi_compat PROPERTIES EXPORT_NAME compat)
  target_include_directories(kashi_compat INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/kashi/compat>)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/compat/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kashi/compat
          FILES_MATCHING PATTERN "*.h" PATTERN "Eigen/Core")
endif()

list(APPEND targets kashi_hlo kashi_kashi)
install(TARGETS ${targets} EXPORT kashi-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET kashi_cli)
  # The tar.gz has shared libraries beside the command, which look for one another there, too: RPATH, not RUNPATH.
  set_target_properties(kashi_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/kashi")
  target_link_options(kashi_cli PRIVATE -Wl,--disable-new-dtags)
  install(TARGETS kashi_cli RUNTIME_DEPENDENCY_SET kashi_shared_libraries RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET kashi_documents)
  set(documents ${PROJECT_BINARY_DIR}/cli/documents)
  install(FILES ${documents}/kashi DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${documents}/_kashi DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${documents}/kashi.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  install(FILES ${documents}/kashi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
# kashi::cpu is in a file of its own, which kashi-config.cmake reads where LLVM is found.
if(KASHI_HAS_CPU)
  set_target_properties(kashi_llvm PROPERTIES EXPORT_NAME llvm)
  set_target_properties(kashi_llvm_ir PROPERTIES EXPORT_NAME llvm_ir)
  install(TARGETS kashi_cpu kashi_codegen kashi_llvm kashi_llvm_ir EXPORT kashi-cpu-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT kashi-cpu-targets NAMESPACE kashi:: DESTINATION ${KASHI_PACKAGE_DIR})
  export(TARGETS kashi_cpu kashi_codegen kashi_llvm kashi_llvm_ir NAMESPACE kashi:: FILE ${PROJECT_BINARY_DIR}/kashi-cpu-targets.cmake)
endif()
# So is kashi::mpi, where MPI is found. kashi-mpi needs the MPI of the machine: it is installed only if asked for
# (cmake --install … --component mpi).
if(KASHI_HAS_MPI)
  install(TARGETS kashi_mpi EXPORT kashi-mpi-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT kashi-mpi-targets NAMESPACE kashi:: DESTINATION ${KASHI_PACKAGE_DIR})
  export(TARGETS kashi_mpi NAMESPACE kashi:: FILE ${PROJECT_BINARY_DIR}/kashi-mpi-targets.cmake)
  if(TARGET kashi_mpi_cli)
    install(TARGETS kashi_mpi_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi EXCLUDE_FROM_ALL)
  endif()
endif()
install(EXPORT kashi-targets NAMESPACE kashi:: DESTINATION ${KASHI_PACKAGE_DIR})
export(TARGETS ${targets} kashi_flags NAMESPACE kashi:: FILE ${PROJECT_BINARY_DIR}/kashi-targets.cmake)

# All that is installed, for whoever does not build everything else too.
add_custom_target(kashi_installed)
foreach(target ${targets} kashi_codegen kashi_cpu kashi_mpi kashi_cli kashi_documents)
  if(TARGET ${target})
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      add_dependencies(kashi_installed ${target})
    endif()
  endif()
endforeach()

# kashi.pc: the rooms, users before what they use, and what they use of others.
get_property(archives GLOBAL PROPERTY KASHI_ROOMS)
list(REVERSE archives)
if(TARGET kashi_proto_messages)
  list(APPEND archives kashi_proto_messages)
endif()
list(TRANSFORM archives PREPEND -l)
list(JOIN archives " " KASHI_PC_LIBRARIES)
get_target_property(KASHI_PC_REQUIRES kashi_base INTERFACE_LINK_LIBRARIES)
list(FILTER KASHI_PC_REQUIRES INCLUDE REGEX "^absl::")
list(TRANSFORM KASHI_PC_REQUIRES REPLACE "absl::" "absl_")
list(APPEND KASHI_PC_REQUIRES absl_synchronization libhwy re2)
if(KASHI_PROTO)
  list(APPEND KASHI_PC_REQUIRES protobuf)
endif()
list(JOIN KASHI_PC_REQUIRES " " KASHI_PC_REQUIRES)
if(KASHI_HAS_LAPACK)
  string(APPEND KASHI_PC_LIBRARIES " -llapack -lblas")
endif()
set(KASHI_PC_LIBDIR "\${pcfiledir}/..")
set(KASHI_PC_CFLAGS "-I\${pcfiledir}/../../${CMAKE_INSTALL_INCLUDEDIR}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/kashi.pc.in ${PROJECT_BINARY_DIR}/kashi.pc @ONLY)
# pkg-config takes a file of this name, if there is one, in the place of kashi.pc.
set(KASHI_PC_LIBDIR ${PROJECT_BINARY_DIR}/rooms)
set(KASHI_PC_CFLAGS "-I${PROJECT_SOURCE_DIR} -I${PROJECT_BINARY_DIR}/gen")
configure_file(${PROJECT_SOURCE_DIR}/cmake/kashi.pc.in ${PROJECT_BINARY_DIR}/kashi-uninstalled.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kashi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kashi-config.cmake.in ${PROJECT_BINARY_DIR}/kashi-config.cmake
                              INSTALL_DESTINATION ${KASHI_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kashi-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kashi-config.cmake ${PROJECT_BINARY_DIR}/kashi-config-version.cmake
        DESTINATION ${KASHI_PACKAGE_DIR})
