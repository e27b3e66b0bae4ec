#include "kashi/scale/device_rates.h"

#include "kashi/base/check.h"

namespace kashi {
namespace {

constexpr double kTera = 1e12, kGiga = 1e9;
// Not published: the time of a message to the next chip, and the minimum time of an instruction.
constexpr double kHopSeconds = 1e-6, kInstructionSeconds = 1e-6;

// Source: the public pages on system architecture of Cloud TPU. Per chip; the bandwidth between chips is published as
// the sum of all links of a chip, in both directions or in one, by generation. Here: one link, one direction.
constexpr TpuRates kRates[] = {
    {TpuGeneration::kV2, {45 * kTera, 700 * kGiga, kInstructionSeconds}, {kHopSeconds, 62 * kGiga}},
    {TpuGeneration::kV3, {123 * kTera, 900 * kGiga, kInstructionSeconds}, {kHopSeconds, 82 * kGiga}},
    {TpuGeneration::kV4, {275 * kTera, 1228 * kGiga, kInstructionSeconds}, {kHopSeconds, 50 * kGiga}},
    {TpuGeneration::kV5e, {197 * kTera, 819 * kGiga, kInstructionSeconds}, {kHopSeconds, 50 * kGiga}},
    {TpuGeneration::kV5p, {459 * kTera, 2765 * kGiga, kInstructionSeconds}, {kHopSeconds, 100 * kGiga}},
    {TpuGeneration::kV6e, {918 * kTera, 1640 * kGiga, kInstructionSeconds}, {kHopSeconds, 112 * kGiga}},
    {TpuGeneration::kTpu7x, {2307 * kTera, 7380 * kGiga, kInstructionSeconds}, {kHopSeconds, 100 * kGiga}},
};

}  // namespace

const TpuRates& GetTpuRates(TpuGeneration generation) {
  for (const TpuRates& rates : kRates) {
    if (rates.generation == generation) return rates;
  }
  KASHI_CHECK(false) << "unknown generation";
}

}  // namespace kashi
