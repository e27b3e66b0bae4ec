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
// As in XLA a leaf's parts may stand in any order and more than once, and few combinations are refused. What ends XLA's
// process is an error here. More device ids than tiles are one too (XLA writes past the end of its array), and so are
// texts of a few bytes that claim a list of more than kMaxClaimedDevices.
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

// Begins at the lexer's present token, `{`, and stops behind the closing brace. `shape`: of the instruction, or null;
// on a tuple a sharding that is none is that of every leaf. On an error: nothing, and one more entry in *diagnostics,
// whose offsets are into the lexer's text.
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

// Begins at `mesh` or `maximal_mesh`. Takes a comma behind the axes of a mesh, as XLA does, but none behind device_ids.
std::optional<Mesh> ReadMesh(internal::TokenReader* reader);
inline bool AtMesh(const internal::Lexer& lexer) { return lexer.AtIdent("mesh") || lexer.AtIdent("maximal_mesh"); }

// {'x', 'y':(2)2}. With `is_closed` a `?` may end the list, and is told there. Appends to *axes.
bool ReadAxes(internal::TokenReader* reader, const Mesh& mesh, std::vector<AxisRef>* axes, bool* is_closed);

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_HLO_SHARDING_TEXT_H_
