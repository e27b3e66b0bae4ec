#include "kashi/hlo/spmd/device_parts.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/attributes/hlo_sharding_text.h"

namespace kashi::hlo {
namespace {

DeviceParts Parts(absl::string_view sharding, std::vector<int64_t> dimensions, int64_t num_devices = 0) {
  auto parts = PartsOf(ParseSharding(sharding).value(), dimensions, num_devices);
  EXPECT_TRUE(parts.ok()) << parts.status();
  return parts.ok() ? *std::move(parts) : DeviceParts();
}

// "0 1 | 2 3": the devices of each part.
std::string DevicesOf(const DeviceParts& parts) {
  return absl::StrJoin(parts.parts, " | ", [](std::string* out, const DevicePart& part) {
    absl::StrAppend(out, absl::StrJoin(part.devices, " "));
  });
}

TEST(DevicePartsTest, TilesAndCopies) {
  const DeviceParts parts = Parts("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", {5, 4});
  EXPECT_EQ(DevicesOf(parts), "0 1 | 2 3");
  EXPECT_EQ(parts.parts[1].offsets[0], 3);
  EXPECT_EQ(parts.parts[1].sizes[0], 2);
  EXPECT_EQ(parts.shard_dimensions[0], 3);
  EXPECT_EQ(parts.replicated, 2);
  EXPECT_EQ(DevicesOf(Parts("{devices=[2,2]<=[2,2]T(1,0)}", {4, 4})), "0 | 2 | 1 | 3");
}

TEST(DevicePartsTest, Subgroups) {
  const DeviceParts parts = Parts("{devices=[2,2,2,2]<=[16] last_tile_dims={manual,unreduced}}", {4, 4});
  EXPECT_EQ(parts.manual, 2);
  EXPECT_EQ(parts.unreduced, 2);
  EXPECT_EQ(parts.replicated, 1);
  EXPECT_EQ(parts.parts.size(), 4);
}

TEST(DevicePartsTest, WholeArrays) {
  EXPECT_EQ(DevicesOf(Parts("{replicated}", {4}, 3)), "0 1 2");
  EXPECT_EQ(Parts("{manual}", {4}, 3).manual, 3);
  EXPECT_EQ(Parts("{unreduced}", {4}, 3).unreduced, 3);
  EXPECT_EQ(DevicesOf(Parts("{maximal device=2}", {4})), "2");
  EXPECT_EQ(Parts("{maximal device=2}", {4}).num_devices, 3);
  EXPECT_EQ(DevicesOf(Parts("{mesh['x'=2,'y'=2], [{'y'}]}", {4})), "0 2 | 1 3");
}

TEST(DevicePartsTest, Errors) {
  const auto fails = [](absl::string_view text, std::vector<int64_t> dimensions, int64_t num_devices) {
    return !PartsOf(ParseSharding(text).value(), dimensions, num_devices).ok();
  };
  EXPECT_TRUE(fails("{replicated}", {4}, 0));
  EXPECT_TRUE(fails("{unknown}", {4}, 2));
  EXPECT_TRUE(fails("{devices=[2]<=[2]}", {4, 4}, 0));
  EXPECT_TRUE(fails("{devices=[2]<=[2]}", {4}, 3));
  EXPECT_TRUE(fails("{{replicated}}", {4}, 2));
  EXPECT_TRUE(fails("{replicated}", {4}, int64_t{1} << 40));
}

// The law: the parts cut the array, and agree with XLA's functions for each device.
TEST(DevicePartsTest, PartsCutTheArray) {
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    std::vector<int64_t> tiles, dimensions;
    int64_t elements = 1, devices = 1;
    for (int d = random() % 3 + 1; d > 0; --d) {
      tiles.push_back(random() % 3 + 1);
      dimensions.push_back(random() % 9 + 1);
      elements *= dimensions.back();
      devices *= tiles.back();
    }
    const int64_t copies = random() % 2 + 1;
    if (devices * copies == 1) continue;  // XLA wants {replicated}
    const bool has_copies = copies > 1;
    const std::string text =
        absl::StrCat("{devices=[", absl::StrJoin(tiles, ","), has_copies ? absl::StrCat(",", copies) : "", "]<=[",
                     devices * copies, "]", has_copies ? " last_tile_dim_replicate" : "", "}");
    const HloSharding sharding = ParseSharding(text).value();
    const DeviceParts parts = Parts(text, dimensions, devices * copies);
    const Shape shape = ShapeUtil::MakeShape(F32, dimensions);
    int64_t total = 0;
    std::vector<bool> seen(parts.num_devices, sharding.IsReplicated());
    for (const DevicePart& part : parts.parts) {
      total += std::accumulate(part.sizes.begin(), part.sizes.end(), int64_t{1}, std::multiplies<>());
      for (const int64_t device : part.devices) {
        EXPECT_FALSE(seen[device] && !sharding.IsReplicated());
        seen[device] = true;
        if (!sharding.IsTiled()) continue;
        const std::vector<int64_t> offset = sharding.TileOffsetForDevice(shape, device);
        EXPECT_TRUE(std::equal(offset.begin(), offset.end(), part.offsets.begin(), part.offsets.end())) << text;
      }
    }
    EXPECT_EQ(total, elements) << text;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0);
  }
}

}  // namespace
}  // namespace kashi::hlo
