// Shardings as text, as XLA prints and reads them. (docs/spec/hlo.md, section 4)
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
// that ends XLA's process is an error here. It is also an error to have more device ids than tiles (XLA writes past the
// end of its array), or to claim a list of more than 16384 devices in a text of a few bytes.
#ifndef KASHI_HLO_ATTRIBUTES_HLO_SHARDING_TEXT_H_
#define KASHI_HLO_ATTRIBUTES_HLO_SHARDING_TEXT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/attributes/hlo_sharding.h"

namespace kashi {

// Reads all of `text`. INVALID_ARGUMENT with the place and the reason.
absl::StatusOr<HloSharding> ParseSharding(absl::string_view text);

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_HLO_SHARDING_TEXT_H_
