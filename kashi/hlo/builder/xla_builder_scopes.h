// Annotations for one scope: its end restores the earlier ones.
#ifndef KASHI_HLO_BUILDER_XLA_BUILDER_SCOPES_H_
#define KASHI_HLO_BUILDER_XLA_BUILDER_SCOPES_H_

#include <optional>
#include <utility>

#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/hlo/builder/xla_builder_core.h"
#include "kashi/hlo/ir/original_value.h"

namespace kashi {

class XlaScopedShardingAssignment {
 public:
  XlaScopedShardingAssignment(XlaBuilder* builder, std::optional<OpSharding> sharding)
      : builder_(builder), previous_(builder->sharding()) {
    Set(sharding);
  }
  XlaScopedShardingAssignment(const XlaScopedShardingAssignment&) = delete;
  XlaScopedShardingAssignment& operator=(const XlaScopedShardingAssignment&) = delete;
  ~XlaScopedShardingAssignment() { Set(previous_); }

 private:
  void Set(const std::optional<OpSharding>& sharding) {
    sharding ? builder_->SetSharding(*sharding) : builder_->ClearSharding();
  }
  XlaBuilder* const builder_;
  const std::optional<OpSharding> previous_;
};

class XlaScopedFrontendAttributesAssignment {
 public:
  XlaScopedFrontendAttributesAssignment(XlaBuilder* builder, FrontendAttributes attributes)
      : builder_(builder), previous_(builder->SwapFrontendAttributes(attributes)) {}
  XlaScopedFrontendAttributesAssignment(const XlaScopedFrontendAttributesAssignment&) = delete;
  XlaScopedFrontendAttributesAssignment& operator=(const XlaScopedFrontendAttributesAssignment&) = delete;
  ~XlaScopedFrontendAttributesAssignment() { builder_->SetFrontendAttributes(previous_); }

 private:
  XlaBuilder* const builder_;
  const FrontendAttributes previous_;
};

class XlaScopedOpMetadataAssignment {
 public:
  XlaScopedOpMetadataAssignment(XlaBuilder* builder, OpMetadata metadata)
      : builder_(builder), previous_(builder->SwapOpMetadata(std::move(metadata))) {}
  XlaScopedOpMetadataAssignment(const XlaScopedOpMetadataAssignment&) = delete;
  XlaScopedOpMetadataAssignment& operator=(const XlaScopedOpMetadataAssignment&) = delete;
  ~XlaScopedOpMetadataAssignment() { builder_->SetOpMetadata(previous_); }

 private:
  XlaBuilder* const builder_;
  const OpMetadata previous_;
};

class XlaScopedOriginalValueAssignment {
 public:
  XlaScopedOriginalValueAssignment(XlaBuilder* builder, const std::optional<OriginalValue>& value)
      : builder_(builder), previous_(builder->original_value()) {
    builder_->SetOriginalValue(value);
  }
  XlaScopedOriginalValueAssignment(const XlaScopedOriginalValueAssignment&) = delete;
  XlaScopedOriginalValueAssignment& operator=(const XlaScopedOriginalValueAssignment&) = delete;
  ~XlaScopedOriginalValueAssignment() { builder_->SetOriginalValue(previous_); }

 private:
  XlaBuilder* const builder_;
  const std::optional<OriginalValue> previous_;
};

}  // namespace kashi

#endif  // KASHI_HLO_BUILDER_XLA_BUILDER_SCOPES_H_
