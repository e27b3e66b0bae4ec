// Opens namespace xla on our names: xla::Shape is kashi::Shape, and `namespace xla { … }` may be opened again around
// code that uses our names unqualified. The alias `namespace xla = kashi;` would not allow that.
//
// With -Dxla=kashi there is only one namespace, and this file does nothing.
#ifndef KASHI_COMPAT_KASHI_COMPAT_NAMESPACE_XLA_H_
#define KASHI_COMPAT_KASHI_COMPAT_NAMESPACE_XLA_H_

#ifndef xla

namespace kashi {
namespace primitive_util {}
}  // namespace kashi

namespace xla {
using namespace ::kashi;
// A namespace of its own, not found through the line above: code may open xla::primitive_util again, too.
namespace primitive_util {
using namespace ::kashi::primitive_util;
}
}  // namespace xla

#endif  // xla

#endif  // KASHI_COMPAT_KASHI_COMPAT_NAMESPACE_XLA_H_
