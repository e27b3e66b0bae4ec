#include "cli/network_file.h"

#include <cmath>
#include <optional>

#include "cli/module_file.h"
#include "kashi/base/status.h"
#include "nlohmann/json.hpp"

namespace kashi::cli {
namespace {

using ParsedJson = nlohmann::json;

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr char kMessage[] = "collective-permute";

const ParsedJson* Find(const ParsedJson& object, const char* key) {
  const auto found = object.find(key);  // the end, if it is no object
  return found == object.end() ? nullptr : &*found;
}

// Nothing, unless it is a finite number that is not negative.
std::optional<double> NumberOf(const ParsedJson& object, const char* key) {
  const ParsedJson* const member = Find(object, key);
  if (member == nullptr || !member->is_number()) return std::nullopt;
  const auto number = member->get<double>();
  return std::isfinite(number) && number >= 0 ? std::optional<double>(number) : std::nullopt;
}

absl::StatusOr<NetworkLink> LinkOf(const ParsedJson& file) {
  const ParsedJson* const collectives = Find(file, "collectives");
  if (collectives == nullptr || !collectives->is_array()) return InvalidArgument("it has no list `collectives`");
  for (const ParsedJson& collective : *collectives) {
    const ParsedJson* const name = Find(collective, "name");
    if (name == nullptr || *name != kMessage) continue;
    const std::optional<double> alpha = NumberOf(collective, "alpha_us"),
                                beta = NumberOf(collective, "beta_ns_per_byte");
    if (!alpha.has_value() || !beta.has_value()) {
      return InvalidArgument("its %s has no alpha_us and beta_ns_per_byte that are numbers of 0 or more", kMessage);
    }
    const double bytes_per_second = 1e9 / *beta;
    if (!std::isfinite(bytes_per_second) || bytes_per_second <= 0) {
      return InvalidArgument("beta_ns_per_byte of its %s is not a time per byte", kMessage);
    }
    return NetworkLink{*alpha * 1e-6, bytes_per_second};
  }
  return InvalidArgument("it has no %s: mpi-bench must have measured that", kMessage);
}

}  // namespace

absl::StatusOr<NetworkLink> ReadNetworkFile(const std::string& path) {
  KASHI_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const auto named = [&](const absl::Status& error) {
    return InvalidArgument("%s is not what `kashi mpi-bench --json` writes: %s", path, error.message());
  };
  if (text.size() > kMostBytes) return named(InvalidArgument("it has %d bytes", text.size()));
  const ParsedJson file = ParsedJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (file.is_discarded()) return named(InvalidArgument("it is not JSON"));
  absl::StatusOr<NetworkLink> link = LinkOf(file);
  if (!link.ok()) return named(link.status());
  return link;
}

}  // namespace kashi::cli
