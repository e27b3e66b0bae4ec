// Fingerprints of modules: those of their text.
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "kashi/base/fingerprint.h"
#include "kashi/base/printer.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {
namespace {

// Takes text for its fingerprint only.
class FingerprintPrinter : public Printer {
 public:
  void Append(const absl::AlphaNum& text) override { builder_.Append(text.Piece()); }
  internal::Fingerprint Finish() const { return builder_.Finish(); }

 private:
  internal::FingerprintBuilder builder_;
};

internal::Fingerprint internal::FingerprintOf(const HloModule& module, const HloPrintOptions& options) {
  FingerprintPrinter printer;
  module.Print(&printer, options);
  return printer.Finish();
}

}  // namespace

uint64_t HloModule::ToFingerprint(const HloPrintOptions& options) const {
  return internal::FingerprintOf(*this, options).low;
}

std::string HloModule::GetFingerprint128(const HloPrintOptions& options) const {
  return internal::FingerprintOf(*this, options).ToString();
}

}  // namespace kashi
