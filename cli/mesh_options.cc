#include "cli/mesh_options.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "cli/network_file.h"
#include "cli/target_option.h"
#include "kashi/analysis/memory_target.h"
#include "kashi/base/status.h"

namespace kashi::cli {
namespace {

struct NamedUnit {
  absl::string_view name;
  double value;
};
constexpr NamedUnit kTimeUnits[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr NamedUnit kBandwidthUnits[] = {{"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}};
constexpr NamedUnit kArithmeticUnits[] = {{"GF/s", 1e9}, {"TF/s", 1e12}, {"PF/s", 1e15}};

// "1.5us" with kTimeUnits: 1.5e-6.
absl::StatusOr<double> ParseQuantity(absl::string_view text, absl::Span<const NamedUnit> units) {
  const auto names = [&] {
    return absl::StrJoin(units, ", ", [](std::string* out, const NamedUnit& unit) { absl::StrAppend(out, unit.name); });
  };
  for (const NamedUnit& unit : units) {
    absl::string_view number = text;
    double value = 0;
    if (!absl::ConsumeSuffix(&number, unit.name) || !absl::SimpleAtod(number, &value)) continue;
    if (!std::isfinite(value) || value < 0) break;
    return value * unit.value;
  }
  return InvalidArgument("`%s` is not a number with one of these units: %s", text, names());
}

absl::StatusOr<NetworkLink> ParseLink(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  if (parts.size() != 2) return InvalidArgument("`%s` is not a latency and bandwidth, such as 1us,50GB/s", text);
  KASHI_ASSIGN_OR_RETURN(const double latency, ParseQuantity(parts[0], kTimeUnits));
  KASHI_ASSIGN_OR_RETURN(const double bandwidth, ParseQuantity(parts[1], kBandwidthUnits));
  if (bandwidth == 0) return InvalidArgument("a bandwidth must be more than 0");
  return NetworkLink{latency, bandwidth};
}

absl::StatusOr<DeviceRates> ParseRates(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  if (parts.size() != 2 && parts.size() != 3) {
    return InvalidArgument("`%s` is not a rate of arithmetic and of memory, such as 197TF/s,819GB/s", text);
  }
  DeviceRates rates;
  KASHI_ASSIGN_OR_RETURN(rates.flops_per_second, ParseQuantity(parts[0], kArithmeticUnits));
  KASHI_ASSIGN_OR_RETURN(rates.memory_bytes_per_second, ParseQuantity(parts[1], kBandwidthUnits));
  if (parts.size() == 3) {
    KASHI_ASSIGN_OR_RETURN(rates.instruction_seconds, ParseQuantity(parts[2], kTimeUnits));
  }
  if (rates.flops_per_second == 0 || rates.memory_bytes_per_second == 0) {
    return InvalidArgument("a rate must be more than 0");
  }
  return rates;
}

// "64x64".
absl::StatusOr<std::vector<int64_t>> ParseSizes(absl::string_view text) {
  std::vector<int64_t> sizes;
  for (const absl::string_view part : absl::StrSplit(text, 'x')) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(part, &size) || size < 1) {
      return InvalidArgument("`%s` is not a grid of devices, such as 64x64", text);
    }
    sizes.push_back(size);
  }
  KASHI_RETURN_IF_ERROR(Network::Create(Network::Kind::kTorus, sizes, {{0, 1}}).status());
  return sizes;
}

// "17=1.5".
absl::StatusOr<std::pair<int64_t, double>> ParseSlowDevice(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '=');
  std::pair<int64_t, double> result;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &result.first) || result.first < 0 ||
      !absl::SimpleAtod(parts[1], &result.second) || !std::isfinite(result.second) || result.second <= 0) {
    return InvalidArgument("`%s` is not a device with its factor, such as 17=1.5", text);
  }
  return result;
}

// An option whose text is parsed at once, so that an error is one of usage.
template <typename Parse, typename Store>
OptionCheck Parsed(Parse parse, Store store) {
  return [parse, store](const std::string& text) {
    auto value = parse(text);
    if (!value.ok()) return std::string(value.status().message());
    store(text, *std::move(value));
    return std::string();
  };
}

// Hosts of Cloud TPU have 4 chips of v4 and v5p, and 8 devices of all others; so have common servers with GPUs.
int64_t HostDevices(const MeshOptions& options, std::optional<TpuGeneration> tpu) {
  if (options.host_devices > 0) return options.host_devices;
  return tpu == TpuGeneration::kV4 || tpu == TpuGeneration::kV5p ? 4 : 8;
}

DeviceRates RatesOf(const insight::Accelerator& device) {
  constexpr double kInstructionSeconds = 1e-6;
  const double flops = device.matrix_bf16 > 0 ? device.matrix_bf16 : device.matrix_f32;
  return {flops, device.memory_bandwidth, kInstructionSeconds};
}

// Empty: there is no option about links.
absl::StatusOr<std::vector<NetworkLink>> LinksOf(const MeshOptions& options) {
  std::vector<NetworkLink> links;
  for (const std::string& text : options.links) {
    KASHI_ASSIGN_OR_RETURN(links.emplace_back(), ParseLink(text));
  }
  if (options.network_file.empty()) return links;
  KASHI_ASSIGN_OR_RETURN(links.emplace_back(), ReadNetworkFile(options.network_file));
  return links;
}

}  // namespace

void AddMeshOptions(Verb* verb, MeshOptions* options) {
  verb->BeginGroup("Prediction for many devices");
  verb->AddOption("--mesh",
                  Parsed(ParseSizes, [options](const auto&, auto sizes) { options->sizes = std::move(sizes); }),
                  "Predict the time of a step on this grid of devices, and the memory of each: 64x64")
      ->Value("SIZES");
  verb->AddOption("--topology", &options->topology,
                  "Links between neighbours in rings, or one network that carries all (default: torus; with --network: "
                  "switch)")
      ->OneOf({"torus", "switch"});
  verb->AddOption("--link", &options->links,
                  "Latency and bandwidth of a link, 1us,50GB/s; once, or once for each dimension")
      ->Value("LINK")
      ->OneEach()
      ->Check(Parsed(ParseLink, [](const auto&, auto) {}));
  verb->AddOption("--network", &options->network_file,
                  "Take the link that `kashi mpi-bench --json` measured and wrote to this file")
      ->Value("FILE");
  verb->AddOption(
          "--host-devices", &options->host_devices,
          "Devices of one host: collectives within and between hosts are told apart (default: 8; v4 and v5p: 4)")
      ->Within(1, Network::kMostDevices);
  verb->AddOption("--rates", Parsed(ParseRates, [options](const auto& text, auto) { options->rates = text; }),
                  "How fast a device is: arithmetic, memory, and the least time of an instruction: "
                  "197TF/s,819GB/s,1us")
      ->Value("RATES");
  verb->AddOption("--slow-device", &options->slow_devices,
                  "A device that computes slower than the others: 17=1.5 takes 1.5 times as long")
      ->Value("N=FACTOR")
      ->OneEach()
      ->Check(Parsed(ParseSlowDevice, [](const auto&, auto) {}));
}

absl::StatusOr<Machine> MachineOf(const MeshOptions& options, const std::string& target, const HloModule& module) {
  const insight::Accelerator* device = target.empty() ? nullptr : &AcceleratorOf(target);
  const std::optional<TpuGeneration> tpu = device != nullptr ? device->tpu : GuessMemoryTarget(module).tpu;
  KASHI_ASSIGN_OR_RETURN(std::vector<NetworkLink> links, LinksOf(options));
  if (device == nullptr && !tpu.has_value() && (options.rates.empty() || links.empty())) {
    return InvalidArgument(
        "the module is not compiled for a TPU, so the speed of the devices is not known: give --target, or --rates and "
        "--link or --network");
  }
  if (links.empty() && !tpu.has_value()) {
    return InvalidArgument("the links of %s are not known: give --link or --network", target);
  }
  if (links.empty()) links.push_back(GetTpuRates(*tpu).link);
  const bool is_switch = options.topology.empty() ? !options.network_file.empty() : options.topology == "switch";
  const Network::Kind kind = is_switch ? Network::Kind::kSwitch : Network::Kind::kTorus;
  KASHI_ASSIGN_OR_RETURN(Network network, Network::Create(kind, options.sizes, std::move(links)));
  Machine machine = {std::move(network), {}, "given rates", {}, tpu, HostDevices(options, tpu)};
  if (!options.rates.empty()) {
    KASHI_ASSIGN_OR_RETURN(machine.rates, ParseRates(options.rates));
  } else if (tpu.has_value()) {
    machine.rates = GetTpuRates(*tpu).device;
    machine.name = std::string(GetTpuGenerationInfo(*tpu).name);
  } else {
    machine.rates = RatesOf(*device);
    machine.name = device->name;
  }
  for (const std::string& text : options.slow_devices) {
    KASHI_ASSIGN_OR_RETURN(machine.slow_devices.emplace_back(), ParseSlowDevice(text));
  }
  return machine;
}

}  // namespace kashi::cli
