// Text of literals outside their classes. LiteralBase's own ToString and Print functions are declared in literal.h.
#ifndef KASHI_LITERAL_LITERAL_TEXT_H_
#define KASHI_LITERAL_LITERAL_TEXT_H_

#include <string>

#include "kashi/literal/literal.h"

namespace kashi::literal {

// Appends only the value, as in an HLO `constant(...)`: one line, no shape (XLA's PrintWithoutShapeOneline).
void AppendLiteralValue(const LiteralBase& literal, std::string* text);

}  // namespace kashi::literal

#endif  // KASHI_LITERAL_LITERAL_TEXT_H_
