// Lets two libraries of one process have the messages of this room: the Python package kashi and the plugin of JAX,
// both with the process's copy of libprotobuf. Its registry ends the process where a file is described twice, so the
// second library leaves its descriptions out and finds those of the first, which are the same.
//
// cmake/KashiProto.cmake makes what protoc wrote use this.
#ifndef KASHI_PROTO_REGISTER_ONCE_H_
#define KASHI_PROTO_REGISTER_ONCE_H_

#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/descriptor_database.h"
#include "google/protobuf/generated_message_reflection.h"

namespace kashi::proto {

struct RegisterOnce {
  using Table = google::protobuf::internal::DescriptorTable;
  explicit RegisterOnce(const Table* table) { Register(table); }

 private:
  static void Register(const Table* table) {
    if (table == nullptr || table->is_initialized) return;
    for (int i = 0; i < table->num_deps; ++i) Register(table->deps[i]);
    google::protobuf::FileDescriptorProto known;
    table->is_initialized =
        google::protobuf::DescriptorPool::internal_generated_database()->FindFileByName(table->filename, &known);
    if (!table->is_initialized) google::protobuf::internal::AddDescriptorsRunner runner(table);
  }
};

}  // namespace kashi::proto

#endif  // KASHI_PROTO_REGISTER_ONCE_H_
