// For tests only: the rows of tests/data/tpu_shapes.tsv, what the TPU compiler chose and measured.
#ifndef KASHI_ARRAY_TPU_SHAPES_TEST_DATA_H_
#define KASHI_ARRAY_TPU_SHAPES_TEST_DATA_H_

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_parser.h"

namespace kashi {

struct TpuShapeRow {
  std::string text;
  Shape shape;
  std::optional<int64_t> bytes;
  std::string generation;  // "v5e" of "v5e:2x2"
};

inline std::vector<TpuShapeRow> ReadTpuShapes() {
  std::vector<TpuShapeRow> rows;
  std::ifstream file(KASHI_TEST_DATA "/tpu_shapes.tsv");
  EXPECT_TRUE(file.good());
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> columns = absl::StrSplit(line, '\t');
    EXPECT_EQ(columns.size(), 3) << line;
    if (columns.size() != 3) continue;
    TpuShapeRow row;
    row.text = columns[0];
    absl::StatusOr<Shape> shape = ParseShape(row.text);
    EXPECT_TRUE(shape.ok()) << shape.status();
    if (!shape.ok()) continue;
    row.shape = *std::move(shape);
    int64_t bytes;
    if (absl::SimpleAtoi(columns[1], &bytes)) row.bytes = bytes;
    row.generation = std::vector<std::string>(absl::StrSplit(columns[2], ':'))[0];
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kashi

#endif  // KASHI_ARRAY_TPU_SHAPES_TEST_DATA_H_
