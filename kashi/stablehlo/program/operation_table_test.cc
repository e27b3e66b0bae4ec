#include "kashi/stablehlo/program/operation_table.h"

#include <algorithm>

#include "absl/types/span.h"
#include "gtest/gtest.h"

namespace kashi::stablehlo {
namespace {

TEST(OperationTable, IsInOrder) {
  const absl::Span<const OperationRow> table = OperationTable();
  EXPECT_TRUE(std::is_sorted(table.begin(), table.end(),
                             [](const OperationRow& a, const OperationRow& b) { return a.name < b.name; }));
  for (const OperationRow& row : table) {
    EXPECT_TRUE(std::is_sorted(row.attributes.begin(), row.attributes.end(),
                               [](const AttributeRow& a, const AttributeRow& b) { return a.name < b.name; }))
        << row.name;
    EXPECT_EQ(FindOperation(row.name), &row);
  }
  EXPECT_EQ(FindOperation("stablehlo.nothing"), nullptr);
}

TEST(ValueCount, AllowsSinglesAndEvenGroups) {
  const ValueCount one_and_two_groups = {"*inputs, *init_values, token", 1, 2};
  EXPECT_FALSE(one_and_two_groups.Allows(0));
  EXPECT_TRUE(one_and_two_groups.Allows(1));
  EXPECT_FALSE(one_and_two_groups.Allows(2));
  EXPECT_TRUE(one_and_two_groups.Allows(5));
  const ValueCount two = {"lhs, rhs", 2, 0};
  EXPECT_TRUE(two.Allows(2));
  EXPECT_FALSE(two.Allows(3));
}

}  // namespace
}  // namespace kashi::stablehlo
