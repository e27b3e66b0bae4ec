#include "xla/pjrt/transpose.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "xla/array.h"
#include "xla/hlo/testlib/test.h"
#include "xla/permutation_util.h"
#include "xla/tsl/platform/env.h"
#include "xla/tsl/platform/status_matchers.h"
#include "xla/tsl/platform/statusor.h"
#include "xla/tsl/platform/threadpool.h"

namespace xla {
namespace {

using ::testing::ElementsAre;

class TestTransposePlan : public TransposePlan {
 public:
  using TransposePlan::CoalesceDimensions;
  using TransposePlan::RemoveTrivialDimensions;
};

TEST(TransposeTest, RemoveTrivialThenCoalesce) {
  absl::InlinedVector<int64_t, 4> dims = {3, 1, 4, 5};
  absl::InlinedVector<int64_t, 4> perm = {2, 3, 1, 0};
  absl::InlinedVector<int64_t, 4> lda = {80, 80, 20, 4};
  absl::InlinedVector<int64_t, 4> lda_tile = {1, 1, 1, 1};
  absl::InlinedVector<int64_t, 4> a_tiling = {1, 1, 1, 1};
  absl::InlinedVector<int64_t, 4> b_tiling = {1, 1, 1, 1};
  TestTransposePlan::RemoveTrivialDimensions(dims, perm, lda, lda_tile, a_tiling, b_tiling);
  EXPECT_THAT(dims, ElementsAre(3, 4, 5));
  EXPECT_THAT(perm, ElementsAre(1, 2, 0));
  TestTransposePlan::CoalesceDimensions(dims, perm, lda, lda_tile, a_tiling, b_tiling);
  EXPECT_THAT(dims, ElementsAre(3, 20));
  EXPECT_THAT(perm, ElementsAre(1, 0));
  EXPECT_THAT(lda, ElementsAre(80, 4));
}

TEST(TransposeTest, OptionsAreRefused) {
  const std::vector<int64_t> dims = {10, 8}, twice = {1, 1}, permutation = {1, 0}, strides = {4};
  TransposePlan::Options options;
  options.elem_size_in_bytes = sizeof(float);
  options.dims = dims;
  options.permutation = twice;
  EXPECT_EQ(TransposePlan::Create(options).status().code(), absl::StatusCode::kInvalidArgument);
  options.permutation = permutation;
  options.input_layout = TransposePlan::Striding{strides};
  EXPECT_EQ(TransposePlan::Create(options).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(TransposeTest, AgreesWithArray) {
  for (const std::vector<int64_t>& permutation : {std::vector<int64_t>{2, 0, 1}, {1, 2, 0}, {0, 2, 1}}) {
    Array<int32_t> a({50, 60, 70});
    a.FillIota(0);
    TransposePlan::Options options;
    options.elem_size_in_bytes = sizeof(int32_t);
    options.dims = a.dimensions();
    options.permutation = permutation;
    options.num_threads = 3;
    TF_ASSERT_OK_AND_ASSIGN(auto plan, TransposePlan::Create(options));
    Array<int32_t> b(plan->OutputDims());
    tsl::thread::ThreadPool pool(tsl::Env::Default(), "transpose", 3);
    plan->Execute(a.data(), b.data(), [&](std::function<void()> work) { pool.Schedule(std::move(work)); });
    a.TransposeDimensions(permutation);
    EXPECT_EQ(a, b) << plan->ToString();
  }
}

TEST(TransposeTest, TilesAndStrides) {
  const std::vector<int64_t> dims = {3, 5}, identity = {0, 1}, tiling = {2, 4}, strides = {-5, 1};
  std::vector<int8_t> a(15), tiled(2 * 2 * 8), b(15);
  std::iota(a.begin(), a.end(), 0);
  TransposePlan::Options options;
  options.elem_size_in_bytes = 1;
  options.dims = dims;
  options.permutation = identity;
  options.input_layout = TransposePlan::Striding{strides};
  options.output_tiling = TransposePlan::Tiling{tiling};
  TF_ASSERT_OK_AND_ASSIGN(auto tiler, TransposePlan::Create(options));
  EXPECT_EQ(tiler->OutputNumElems(), 32);
  tiler->Execute(a.data() + 10, tiled.data());
  options.input_layout = TransposePlan::Tiling{tiling};
  options.output_tiling = {};
  TransposePlanCache cache(1);
  TF_ASSERT_OK_AND_ASSIGN(std::shared_ptr<TransposePlan> untiler, cache.GetOrCreate(options));
  untiler->Execute(tiled.data(), b.data());
  EXPECT_THAT(b, ElementsAre(10, 11, 12, 13, 14, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4));
}

}  // namespace
}  // namespace xla
