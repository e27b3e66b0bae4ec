// Shardings as text: what XLA prints and what it takes. (docs/spec/hlo.md, section 4)
//
//   sharding = "{" "}" | "{" leaf { "," leaf } "}" | leaf          the first two are tuples
//   leaf     = "{" { word | "device=" INT | devices | "last_tile_dims=" "{" [ type { "," type } ] "}"
//                    | ("shard_as" | "shard_like") INT | "metadata=" ( metadata | "{" metadata { "," metadata } "}" )
//              } "}"
//            | "{" named "}"
//   word     = "replicated" | "maximal" | "manual" | "unknown" | "unreduced" | "last_tile_dim_replicate"
//   devices  = "devices=" "[" ints "]" ( ints | "<=" "[" ints "]" [ "T" "(" ints ")" ] )
//   named    = mesh [","] ( word | "[" [ dim { "," dim } ] "]" { "," ("replicated="|"unreduced="|"manual=") axes |
//              …metadata } )
//   mesh     = "mesh" "[" [ STRING "=" INT { "," STRING "=" INT } ] "]" [ "," "device_ids=" "(" ids ")" ]
//   dim      = "{" [ axis { "," axis } ] ["," "?"] "}"     axis = STRING [ ":" "(" INT ")" INT ]
//
// As in XLA, the parts of a leaf may be in any order and occur several times, and few combinations are rejected. Text
// that ends XLA's process is an error here. More device ids than tiles are one too (XLA writes past the end of its
// array), and so are texts of a few bytes that claim a list of more than kMaxClaimedDevices.
#ifndef KASHI_HLO_ATTRIBUTES_HLO_SHARDING_TEXT_H_
#define KASHI_HLO_ATTRIBUTES_HLO_SHARDING_TEXT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/array/lexer.h"
#include "kashi/array/shape.h"
#include "kashi/base/diagnostic.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/token_reader.h"

namespace kashi {

// Devices in lists that are made for texts that hold no such list: ids that are left out (XLA fills in 0), and iota
// forms whose subgroups iota cannot say.
constexpr int64_t kMaxMissingDevices = 256;
constexpr int64_t kMaxClaimedDevices = 16384;

// Begins at the lexer's current token, `{`, and stops after the closing brace. `shape`: of the instruction, or null; if
// it is a tuple, a sharding that is not a tuple applies to every leaf. On an error: returns nothing, and adds one entry
// to *diagnostics with offsets into the lexer's text.
std::optional<HloSharding> ParseShardingPrefix(internal::Lexer* lexer, const Shape* shape,
                                               std::vector<Diagnostic>* diagnostics);

// Reads all of `text`. INVALID_ARGUMENT with the place and the reason.
absl::StatusOr<HloSharding> ParseSharding(absl::string_view text);

// ---- Parts, which replica groups have too (collective_device_list.h). -----------------------------------------------

// [dims]<=[reshape]T(perm), or [dims]ids, which may continue what an earlier one has read.
struct DevicesText {
  std::vector<int64_t> dims;
  std::vector<int64_t> reshape_dims;
  std::vector<int> transpose_perm;
  std::vector<int64_t> ids;
};
bool ReadDevices(internal::TokenReader* reader, DevicesText* devices);

// Begins at `mesh` or `maximal_mesh`. As in XLA, accepts a comma after the axes of a mesh, but not after device_ids.
std::optional<Mesh> ReadMesh(internal::TokenReader* reader);
inline bool AtMesh(const internal::Lexer& lexer) { return lexer.AtIdent("mesh") || lexer.AtIdent("maximal_mesh"); }

// {'x', 'y':(2)2}. With `is_closed`, a `?` may end the list, which sets *is_closed to false. Appends to *axes.
bool ReadAxes(internal::TokenReader* reader, const Mesh& mesh, std::vector<AxisRef>* axes, bool* is_closed);

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_HLO_SHARDING_TEXT_H_
