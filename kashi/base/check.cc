#include "kashi/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace kashi::base {

FatalMessage::FatalMessage(const char* file, int line, const std::string& what) {
  stream_ << file << ":" << line << ": " << what;
}

FatalMessage::~FatalMessage() {
  std::string text = stream_.str();
  std::fprintf(stderr, "%s\n", text.c_str());
  std::fflush(stderr);
  std::abort();
}

std::unique_ptr<std::string> CheckOk(const absl::Status& status, const char* text) {
  if (ABSL_PREDICT_TRUE(status.ok())) return nullptr;
  return std::make_unique<std::string>(std::string(text) + " is OK (" + status.ToString() + ")");
}

}  // namespace kashi::base
