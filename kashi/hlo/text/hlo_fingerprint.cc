// Fingerprints of modules: those of their text.
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "kashi/base/fingerprint.h"
#include "kashi/base/printer.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

using base::Fingerprint;
using base::FingerprintBuilder;
namespace {

// Receives text only to compute its fingerprint.
class FingerprintPrinter : public Printer {
 public:
  void Append(const absl::AlphaNum& text) override { builder_.Append(text.Piece()); }
  Fingerprint Finish() const { return builder_.Finish(); }

 private:
  FingerprintBuilder builder_;
};

Fingerprint FingerprintOfText(const HloModule& module, const HloPrintOptions& options) {
  FingerprintPrinter printer;
  module.Print(&printer, options);
  return printer.Finish();
}

}  // namespace

uint64_t HloModule::ToFingerprint(const HloPrintOptions& options) const {
  return FingerprintOfText(*this, options).low;
}

std::string HloModule::GetFingerprint128(const HloPrintOptions& options) const {
  return FingerprintOfText(*this, options).ToString();
}

}  // namespace kashi
