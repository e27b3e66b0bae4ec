// The former path of xla/hlo/parser/hlo_parser.h.
#ifndef KASHI_COMPAT_XLA_SERVICE_HLO_PARSER_H_
#define KASHI_COMPAT_XLA_SERVICE_HLO_PARSER_H_

#include "xla/hlo/parser/hlo_parser.h"

#endif  // KASHI_COMPAT_XLA_SERVICE_HLO_PARSER_H_
