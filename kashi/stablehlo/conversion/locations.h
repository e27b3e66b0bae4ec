// Locations as metadata of instructions: op_name, op_type, source position, stack frames (docs/spec/vhlo.md 7).
//
//   loc("jit(f)/layer/sin"(callsite("g"("m.py":3:4) at "f"("m.py":9:1))))
//     op_name="jit(f)/layer/sin", the frame of g, whose parent is the frame of f
#ifndef KASHI_STABLEHLO_CONVERSION_LOCATIONS_H_
#define KASHI_STABLEHLO_CONVERSION_LOCATIONS_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Writes the tables of stack frames, each entry once. Readers share equal locations by pointer, so the metadata of each
// is made once. Locations that nest deeper than a thousand are cut.
class LocationConverter {
 public:
  explicit LocationConverter(StackFrameIndex* tables) : tables_(*tables) {}

  struct Metadata {
    base::SharedValue<OpMetadata> value;  // null: nothing is known
    std::string name;                     // for the instruction: the last component of op_name; "" if there is none
  };
  // `location` may be null. Valid until the next call.
  const Metadata& Convert(const Location* location);

 private:
  Metadata Make(const Location& location);
  int32_t FrameOf(const Location& location);
  int32_t AddFrame(const Location& file, absl::string_view function, int32_t parent);
  int32_t AddText(absl::string_view text, absl::flat_hash_map<std::string, int32_t>* ids,
                  std::vector<std::string>* table);

  StackFrameIndex& tables_;
  absl::flat_hash_map<const Location*, Metadata> made_;
  absl::flat_hash_map<std::string, int32_t> files_;
  absl::flat_hash_map<std::string, int32_t> functions_;
  using FileLocation = std::tuple<int32_t, int32_t, int64_t, int64_t, int64_t, int64_t>;
  absl::flat_hash_map<FileLocation, int32_t> file_locations_;
  absl::flat_hash_map<std::pair<int32_t, int32_t>, int32_t> frames_;  // (file location, parent)
  absl::flat_hash_map<const Location*, int32_t> frames_of_;
};

// The op_name of the location; "" if the location has no name.
std::string OpNameOf(const Location& location);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_LOCATIONS_H_
