# cmake -DSOURCE=x.pb.cc -P register_once.cmake
#
# Lets what protoc wrote describe its messages by kashi/proto/register_once.h. Stops the build where the generated code
# does not look as expected.
file(READ ${SOURCE} source)
set(runner "static ::_pbi::AddDescriptorsRunner dynamic_init_dummy_")
string(FIND "${source}" "${runner}" place)
if(place EQUAL -1)
  message(FATAL_ERROR "register_once.cmake: no '${runner}' in what protoc made (${SOURCE}); is this protoc newer?")
endif()
string(REPLACE "${runner}" "static ::kashi::proto::RegisterOnce dynamic_init_dummy_" source "${source}")
file(WRITE ${SOURCE} "#include \"kashi/proto/register_once.h\"\n${source}")
