// "Did you mean …?" for unknown words of the command line: kashi/base/suggest.h.
#ifndef KASHI_CLI_SUGGEST_H_
#define KASHI_CLI_SUGGEST_H_

#include "kashi/base/suggest.h"

namespace kashi::cli {

using base::DidYouMean;
using base::SimilarWords;

}  // namespace kashi::cli

#endif  // KASHI_CLI_SUGGEST_H_
