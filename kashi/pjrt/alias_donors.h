// Which results take the memory of donated arguments, as XLA's compiler chooses them.
#ifndef KASHI_PJRT_ALIAS_DONORS_H_
#define KASHI_PJRT_ALIAS_DONORS_H_

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::pjrt {

// Makes an alias (input_output_alias) of each buffer donor and the first result of its size that has none yet, in
// order. Donors without such a result stay. Callers see it in the text of the program.
absl::Status AliasDonors(HloModule* module);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_ALIAS_DONORS_H_
