// For tests only: the rows of tests/data/tpu_shapes.tsv, with the layouts and sizes of the TPU compiler.
#ifndef KASHI_ARRAY_TPU_SHAPES_TESTING_H_
#define KASHI_ARRAY_TPU_SHAPES_TESTING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "kashi/array/recorded_cases_testing.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_parser.h"

namespace kashi::array {

struct TpuShapeRow {
  std::string text;
  Shape shape;
  std::optional<int64_t> bytes;
  std::string generation;  // "v5e" of "v5e:2x2"
};

inline std::vector<TpuShapeRow> ReadTpuShapes() {
  std::vector<TpuShapeRow> rows;
  for (const std::vector<std::string>& columns : ReadTestData("tpu_shapes.tsv")) {
    EXPECT_EQ(columns.size(), 3) << absl::StrJoin(columns, " ");
    if (columns.size() != 3) continue;
    TpuShapeRow row;
    row.text = columns[0];
    absl::StatusOr<Shape> shape = ParseShape(row.text);
    EXPECT_TRUE(shape.ok()) << shape.status();
    if (!shape.ok()) continue;
    row.shape = *std::move(shape);
    int64_t bytes;
    if (absl::SimpleAtoi(columns[1], &bytes)) row.bytes = bytes;
    row.generation = columns[2].substr(0, columns[2].find(':'));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kashi::array

#endif  // KASHI_ARRAY_TPU_SHAPES_TESTING_H_
