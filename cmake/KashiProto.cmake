# kashi_proto_messages: the C++ that protoc makes of kashi/proto/*.proto at build time, in ${PROJECT_BINARY_DIR}/gen
# under the include path "kashi/proto/x.pb.h".
find_package(Protobuf REQUIRED)

set(KASHI_GENERATED_DIR ${PROJECT_BINARY_DIR}/gen)
file(MAKE_DIRECTORY ${KASHI_GENERATED_DIR})
file(GLOB protos CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kashi/proto/*.proto)

set(generated)
foreach(proto IN LISTS protos)
  cmake_path(GET proto STEM name)
  set(output ${KASHI_GENERATED_DIR}/kashi/proto/${name}.pb)
  set(use_own_enum)
  if(name STREQUAL "xla_data")
    set(use_own_enum COMMAND ${CMAKE_COMMAND} -DHEADER=${output}.h -DSOURCE=${output}.cc -DENUM=PrimitiveType
                             -DINCLUDE=kashi/array/primitive_type.h -P ${PROJECT_SOURCE_DIR}/cmake/use_own_enum.cmake)
  endif()
  # One proto may import another, so each depends on all of them.
  add_custom_command(
    OUTPUT ${output}.h ${output}.cc
    COMMAND protobuf::protoc --cpp_out=${KASHI_GENERATED_DIR} -I${PROJECT_SOURCE_DIR} ${proto}
    ${use_own_enum}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${output}.cc -P ${PROJECT_SOURCE_DIR}/cmake/register_once.cmake
    DEPENDS ${protos} ${PROJECT_SOURCE_DIR}/cmake/use_own_enum.cmake ${PROJECT_SOURCE_DIR}/cmake/register_once.cmake
    COMMENT "protoc kashi/proto/${name}.proto"
    VERBATIM)
  list(APPEND generated ${output}.h ${output}.cc)
endforeach()

add_library(kashi_proto_messages STATIC ${generated})
set_target_properties(kashi_proto_messages PROPERTIES EXPORT_NAME proto_messages POSITION_INDEPENDENT_CODE ON
                      KASHI_GENERATED_DIR ${KASHI_GENERATED_DIR})
# SYSTEM: warnings in what protoc wrote are not ours.
target_include_directories(kashi_proto_messages SYSTEM PUBLIC $<BUILD_INTERFACE:${KASHI_GENERATED_DIR}>
                           $<INSTALL_INTERFACE:include>)
target_link_libraries(kashi_proto_messages PUBLIC kashi::array protobuf::libprotobuf
                      PRIVATE $<BUILD_INTERFACE:kashi_flags>)
target_compile_options(kashi_proto_messages PRIVATE -w)
kashi_optimise(kashi_proto_messages -O2 "")
