// XlaOp: a value in a computation that an XlaBuilder makes. XlaComputationId: a computation embedded in a builder.
#ifndef KASHI_HLO_BUILDER_XLA_OP_H_
#define KASHI_HLO_BUILDER_XLA_OP_H_

#include <cstdint>
#include <ostream>
#include <type_traits>

#include "kashi/base/check.h"

namespace kashi {

class XlaBuilder;

// A handle, as cheap to copy as two numbers. It must not be used after its builder is destroyed.
class XlaOp {
 public:
  XlaOp() : handle_(-1), builder_(nullptr) {}

  // Dies if uninitialised.
  XlaBuilder* builder() const {
    KASHI_CHECK(builder_ != nullptr) << "this XlaOp does not belong to a builder";
    return builder_;
  }
  // False if the operation failed, and if uninitialised.
  bool valid() const { return handle_ >= 0; }
  bool IsUninitialized() const { return builder_ == nullptr; }
  bool IsIdenticalTo(XlaOp other) const { return handle_ == other.handle_ && builder_ == other.builder_; }

  friend std::ostream& operator<<(std::ostream& out, XlaOp op) { return out << op.handle_; }

 private:
  friend class XlaBuilder;
  XlaOp(int64_t handle, XlaBuilder* builder) : handle_(handle), builder_(builder) {}

  int64_t handle_;
  XlaBuilder* builder_;
};
static_assert(std::is_trivially_destructible_v<XlaOp>);

// The handle of a computation (XlaBuilder::BuildSubComputation, AddSubComputation). The builder that has it, and all
// sub-builders of that builder, can call it.
class XlaComputationId {
 public:
  XlaComputationId() : handle_(-1), builder_(nullptr) {}
  bool valid() const { return handle_ >= 0; }

  friend std::ostream& operator<<(std::ostream& out, XlaComputationId id) { return out << id.handle_; }

 private:
  friend class XlaBuilder;
  XlaComputationId(int64_t handle, const XlaBuilder* builder) : handle_(handle), builder_(builder) {}

  int64_t handle_;
  const XlaBuilder* builder_;
};

// Arithmetic on values of one builder. >> keeps the sign of signed integers.
XlaOp operator-(XlaOp x);
XlaOp operator+(XlaOp x, XlaOp y);
XlaOp operator-(XlaOp x, XlaOp y);
XlaOp operator*(XlaOp x, XlaOp y);
XlaOp operator/(XlaOp x, XlaOp y);
XlaOp operator%(XlaOp x, XlaOp y);
XlaOp operator~(XlaOp x);
XlaOp operator&(XlaOp x, XlaOp y);
XlaOp operator|(XlaOp x, XlaOp y);
XlaOp operator^(XlaOp x, XlaOp y);
XlaOp operator<<(XlaOp x, XlaOp y);
XlaOp operator>>(XlaOp x, XlaOp y);

}  // namespace kashi

#endif  // KASHI_HLO_BUILDER_XLA_OP_H_
