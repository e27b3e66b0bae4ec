# `cpack` makes a Debian package and a tar.gz of what `cmake --install` installs: `./dev package` calls it.
#   .deb       depends on Debian's packages of the shared libraries that the command uses
#   .tar.gz    works from any folder: it has these libraries beside the command, in lib/kashi
if(NOT KASHI_INSTALL OR NOT TARGET kashi_cli)
  return()
endif()

# The libraries that the command finds in the tar.gz. The C library is the machine's: it and its loader go together.
install(RUNTIME_DEPENDENCY_SET kashi_shared_libraries COMPONENT shared_libraries EXCLUDE_FROM_ALL
        PRE_EXCLUDE_REGEXES "^ld-linux" "^linux-vdso" "^lib(c|m|dl|rt|pthread)\\.so"
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/kashi)

# A package has no tests, so they need not be built for one; whoever installs says what to build.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

set(CPACK_PACKAGE_NAME kashi)
set(CPACK_PACKAGE_VENDOR "The authors of Kashi")
set(CPACK_PACKAGE_CONTACT "The authors of Kashi")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What the headers include, and what the static libraries are linked with.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libabsl-dev, libhwy-dev, libre2-dev, libprotobuf-dev, liblapack-dev, libblas-dev")
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/kashi-cpack.cmake)
configure_file(${PROJECT_SOURCE_DIR}/cmake/kashi-cpack.cmake.in ${CPACK_PROJECT_CONFIG_FILE} @ONLY)
include(CPack)
