// Recognizes the kind of an input: HLO text, nothing, or a file that people give to Kashi by mistake.
#ifndef KASHI_HLO_TEXT_INPUT_KIND_H_
#define KASHI_HLO_TEXT_INPUT_KIND_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kashi::hlo {

// Whether the input begins like HLO text; control bytes may follow. No proto begins like this.
bool BeginsLikeHloText(absl::string_view bytes);

// Whether there is nothing, or only white space.
bool IsEmptyInput(absl::string_view bytes);

// Names the kind of an input that is not a program, and how to get HLO: a profile (xplane), a TensorFlow graph, XLA's
// report about the memory of a module, an array, an image, a document, machine code …. "" for any other input. It may
// be wrong about a program: ask only after reading has failed.
std::string DescribeOtherKind(absl::string_view bytes);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_TEXT_INPUT_KIND_H_
