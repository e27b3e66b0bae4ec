# cmake -DHEADER=x.pb.h -DSOURCE=x.pb.cc -DENUM=PrimitiveType -DINCLUDE=kashi/array/primitive_type.h -P
# use_own_enum.cmake
#
# Takes the definition of an enum, and of the functions ENUM_IsValid, ENUM_Name and ENUM_Parse, out of what protoc
# wrote, and lets it use those that INCLUDE declares. ENUM_descriptor() stays, so that reflection and text format know
# the names. Stops the build where the generated code does not look as expected.

# Cuts text from the first place of `begin` up to and including the first `end` behind it; puts `replacement` there.
function(cut variable begin end replacement)
  set(text "${${variable}}")
  string(FIND "${text}" "${begin}" first)
  if(first EQUAL -1)
    message(FATAL_ERROR "use_own_enum.cmake: no '${begin}' in what protoc made (${HEADER}); is this protoc newer?")
  endif()
  string(SUBSTRING "${text}" 0 ${first} head)
  string(SUBSTRING "${text}" ${first} -1 tail)
  string(FIND "${tail}" "${end}" last)
  if(last EQUAL -1)
    message(FATAL_ERROR "use_own_enum.cmake: no '${end}' behind '${begin}' in what protoc made (${HEADER})")
  endif()
  string(LENGTH "${end}" length)
  math(EXPR last "${last} + ${length}")
  string(SUBSTRING "${tail}" ${last} -1 tail)
  set(${variable} "${head}${replacement}${tail}" PARENT_SCOPE)
endfunction()

file(READ ${HEADER} header)
file(READ ${SOURCE} source)

cut(header "#include <string>\n" "\n" "#include <string>\n#include \"${INCLUDE}\"\n")
cut(header "enum ${ENUM} : int {\n" "\n};\n" "")
cut(header "bool ${ENUM}_IsValid(int value);\n" "\n" "")
cut(header "constexpr ${ENUM} ${ENUM}_MIN = " "\n" "")
cut(header "constexpr ${ENUM} ${ENUM}_MAX = " "\n" "")
cut(header "constexpr int ${ENUM}_ARRAYSIZE = " "\n" "")
cut(header "template<typename T>\ninline const std::string& ${ENUM}_Name(T " "\n}\n" "")
cut(header "inline bool ${ENUM}_Parse(\n" "\n}\n" "")
cut(source "bool ${ENUM}_IsValid(int value) {\n" "\n}\n" "")

# What must be left: the descriptor, and the trait by which templates of protobuf know an enum.
foreach(needed "EnumDescriptor* ${ENUM}_descriptor();\n" "::${ENUM}> : ::std::true_type {};\n")
  string(FIND "${header}" "${needed}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "use_own_enum.cmake: no '${needed}' in what protoc made (${HEADER}); is this protoc newer?")
  endif()
endforeach()

file(WRITE ${HEADER} "${header}")
file(WRITE ${SOURCE} "${source}")
