// Readers of shardings and of their parts within other text. hlo_sharding_text.h has the grammar and the reader of a
// whole text; hlo_sharding_text.cc defines both.
#ifndef KASHI_HLO_ATTRIBUTES_SHARDING_READER_H_
#define KASHI_HLO_ATTRIBUTES_SHARDING_READER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "kashi/array/lexer.h"
#include "kashi/array/shape.h"
#include "kashi/base/diagnostic.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/token_reader.h"

namespace kashi::hlo {

// The limit on lists of devices that are made for a text without such a list: missing ids (XLA fills in 0), and iota
// forms whose subgroups have no iota form.
constexpr int64_t kMaxMissingDevices = 256;
constexpr int64_t kMaxClaimedDevices = 16384;

// Reads from the lexer's current token, `{`, to the closing brace. `shape`: of the instruction, or null; if
// it is a tuple, a sharding that is not a tuple applies to every leaf. On an error: returns nothing, and adds one entry
// to *diagnostics with offsets into the lexer's text.
std::optional<HloSharding> ParseShardingPrefix(array::Lexer* lexer, const Shape* shape,
                                               std::vector<Diagnostic>* diagnostics);

// ---- Parts that replica groups have too (collective_device_list.h) --------------------------------------------------

// [dims]<=[reshape]T(perm), or [dims]ids, where `ids` may continue ids that were read earlier.
struct DevicesText {
  std::vector<int64_t> dims;
  std::vector<int64_t> reshape_dims;
  std::vector<int> transpose_perm;
  std::vector<int64_t> ids;
};
bool ReadDevices(TokenReader* reader, DevicesText* devices);

// Begins at `mesh` or `maximal_mesh`. Accepts, as XLA does, a comma after the axes of a mesh, but not after device_ids.
std::optional<Mesh> ReadMesh(TokenReader* reader);
inline bool AtMesh(const array::Lexer& lexer) { return lexer.AtIdent("mesh") || lexer.AtIdent("maximal_mesh"); }

// {'x', 'y':(2)2}. With `is_closed`, a `?` may end the list, which sets *is_closed to false. Appends to *axes.
bool ReadAxes(TokenReader* reader, const Mesh& mesh, std::vector<AxisRef>* axes, bool* is_closed);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_ATTRIBUTES_SHARDING_READER_H_
