#include "kashi/draw/layout_figure.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/index_map.h"
#include "kashi/array/shape_parser.h"
#include "kashi/draw/layout_figure_testing.h"

namespace kashi::draw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string ErrorOf(absl::string_view shape) {
  absl::StatusOr<Shape> parsed = ParseShape(shape);
  EXPECT_TRUE(parsed.ok()) << shape << ": " << parsed.status();
  return std::string(MakeLayoutFigure(*parsed).status().message());
}

std::string Terminal(absl::string_view shape, int width = 100) {
  TerminalOptions options;
  options.width = width;
  return ToTerminal(Figure(shape), options);
}

// The cells of a slice row by row: positions, "." for padding.
std::string Cells(const LayoutFigure& figure, int slice = 0) {
  std::string text;
  int row = 0;
  for (const LayoutFigure::Cell& cell : figure.slices[slice].cells) {
    if (!text.empty()) text += cell.row == row ? " " : " / ";
    row = cell.row;
    text += cell.is_element ? absl::StrCat(cell.physical) : ".";
  }
  return text;
}

std::string Labels(const std::vector<LayoutFigure::Line>& lines) {
  return absl::StrJoin(lines, " ", [](std::string* out, const LayoutFigure::Line& line) {
    absl::StrAppend(out, line.is_ellipsis ? ".." : line.label.empty() ? "-" : line.label);
  });
}

// "1 2 2 1": the border before each line, and the one behind the last.
std::string Borders(const std::vector<LayoutFigure::Line>& lines) {
  std::string text;
  for (const LayoutFigure::Line& line : lines) absl::StrAppend(&text, line.border_before, " ");
  return absl::StrCat(text, lines.back().border_after);
}

// The row-major numbers of the elements in memory order, as the documents list them.
std::string MemoryOrder(const LayoutFigure& figure, absl::string_view shape) {
  const Shape parsed = *ParseShape(shape);
  std::map<int64_t, std::string> by_position;
  for (const LayoutFigure::Slice& slice : figure.slices) {
    for (const LayoutFigure::Cell& cell : slice.cells) {
      int64_t id = 0;
      for (size_t d = 0; d < cell.index.size(); ++d) id = id * parsed.dimensions(static_cast<int>(d)) + cell.index[d];
      by_position[cell.physical] = cell.is_element ? absl::StrCat(id) : ".";
    }
  }
  return absl::StrJoin(by_position, " ", [](std::string* out, const auto& entry) { out->append(entry.second); });
}

TEST(LayoutFigureTest, DocumentsFirstFigureAsData) {
  const std::string shape = "f32[3,5]{1,0:T(2,2)}";
  const LayoutFigure figure = Figure(shape);
  EXPECT_EQ(figure.title, shape);
  EXPECT_EQ(figure.summary, "15 elements, 24 positions in memory, 9 of them padding (37.5 %); 96 bytes");
  ASSERT_THAT(figure.slices, SizeIs(1));
  EXPECT_EQ(Cells(figure), "0 1 4 5 8 . / 2 3 6 7 10 . / 12 13 16 17 20 . / . . . . . .");
  EXPECT_EQ(MemoryOrder(figure, shape), "0 1 5 6 2 3 7 8 4 . 9 . 10 11 . . 12 13 . . 14 . . .");
  EXPECT_EQ(Labels(figure.rows), "0 1 2 -");
  EXPECT_EQ(Labels(figure.columns), "0 1 2 3 4 -");
  EXPECT_EQ(Borders(figure.rows), "1 0 1 0 1");
  EXPECT_EQ(Borders(figure.columns), "1 0 1 0 1 0 1");
  ASSERT_THAT(figure.levels, SizeIs(1));
  EXPECT_EQ(figure.levels[0].rows, 2);
  EXPECT_EQ(figure.levels[0].columns, 2);
  EXPECT_EQ(figure.levels[0].description, "T(2,2): tiles of 2 rows and 2 columns");
  EXPECT_THAT(figure.paths, ElementsAre(LayoutFigure::Path{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_FALSE(figure.is_cut());

  const LayoutFigure::Cell& cell = figure.slices[0].cells[2 * 6 + 3];
  EXPECT_THAT(cell.index, ElementsAre(2, 3));
  EXPECT_EQ(cell.physical, 17);
  EXPECT_EQ(cell.tile, 4);
  EXPECT_EQ(ToString(cell, CellText::kPhysical), "17");
  EXPECT_EQ(ToString(cell, CellText::kLogical), "2,3");
}

TEST(LayoutFigureTest, DocumentsFirstFigureInTheTerminal) {
  EXPECT_EQ(Terminal("f32[3,5]{1,0:T(2,2)}"),
            R"(f32[3,5]{1,0:T(2,2)}
15 elements, 24 positions in memory, 9 of them padding (37.5 %); 96 bytes
rows: dimension 0 (y), size 3, padded to 4; most major
columns: dimension 1 (x), size 5, padded to 6; most minor

y\x    0  1    2  3    4
    ┏━━━━━━━┳━━━━━━━┳━━━━━━━┓
  0 ┃  0  1 ┃  4  5 ┃  8  · ┃
  1 ┃  2  3 ┃  6  7 ┃ 10  · ┃
    ┣━━━━━━━╋━━━━━━━╋━━━━━━━┫
  2 ┃ 12 13 ┃ 16 17 ┃ 20  · ┃
    ┃  ·  · ┃  ·  · ┃  ·  · ┃
    ┗━━━━━━━┻━━━━━━━┻━━━━━━━┛

   17  position in memory (physical linear index, in elements)
    ·  padding: memory that holds no element
    ┃  T(2,2): tiles of 2 rows and 2 columns
)");
}

TEST(LayoutFigureTest, DocumentsSecondFigure) {
  const std::string shape = "f32[4,8]{1,0:T(2,4)(2,1)}";
  const LayoutFigure figure = Figure(shape);
  EXPECT_EQ(MemoryOrder(figure, shape),
            "0 8 1 9 2 10 3 11 4 12 5 13 6 14 7 15 16 24 17 25 18 26 19 27 20 28 21 29 22 30 23 31");
  EXPECT_EQ(Borders(figure.rows), "1 0 1 0 1");
  EXPECT_EQ(Borders(figure.columns), "1 2 2 2 1 2 2 2 1");
  std::ostringstream ascii;
  ascii << figure;
  EXPECT_EQ(ascii.str(), R"(f32[4,8]{1,0:T(2,4)(2,1)}
32 elements, 32 positions in memory; 128 bytes
rows: dimension 0 (y), size 4; most major
columns: dimension 1 (x), size 8; most minor

y\x    0    1    2    3    4    5    6    7
    +====+====+====+====+====+====+====+====+
  0 |  0 :  2 :  4 :  6 |  8 : 10 : 12 : 14 |
  1 |  1 :  3 :  5 :  7 |  9 : 11 : 13 : 15 |
    +====+====+====+====+====+====+====+====+
  2 | 16 : 18 : 20 : 22 | 24 : 26 : 28 : 30 |
  3 | 17 : 19 : 21 : 23 | 25 : 27 : 29 : 31 |
    +====+====+====+====+====+====+====+====+

   17  position in memory (physical linear index, in elements)
    |  T(2,4): tiles of 2 rows and 4 columns
    :  (2,1): inner tiles of 2 rows and 1 column
)");
}

TEST(LayoutFigureTest, ColumnsAreTheMostMinorDimension) {
  const LayoutFigure figure = Figure("f32[2,3]{0,1}");
  EXPECT_EQ(Cells(figure), "0 1 / 2 3 / 4 5");
  ASSERT_THAT(figure.axes, SizeIs(2));
  EXPECT_EQ(figure.axes[0].description, "rows: dimension 1 (x), size 3; most major");
  EXPECT_EQ(figure.axes[1].description, "columns: dimension 0 (y), size 2; most minor");
  EXPECT_EQ(Borders(figure.columns), "0 0 0");
}

TEST(LayoutFigureTest, RanksZeroAndOne) {
  EXPECT_EQ(Cells(Figure("f32[]")), "0");
  EXPECT_EQ(Cells(Figure("f32[]{:T(2)}")), "0 .");
  EXPECT_EQ(Cells(Figure("f32[3]")), "0 1 2");
  EXPECT_EQ(Cells(Figure("f32[5]{0:T(4)}")), "0 1 2 3 4 . . .");
  // A tile of a higher rank than the array.
  const LayoutFigure figure = Figure("f32[5]{0:T(2,4)}");
  EXPECT_EQ(Cells(figure), "0 1 2 3 8 . . . / . . . . . . . .");
  EXPECT_EQ(figure.axes[0].description, "rows: a dimension that only the tile has, size 1, padded to 2; most major");
  EXPECT_EQ(Labels(figure.columns), "0 1 2 3 4 - - -");
}

TEST(LayoutFigureTest, RankOneIsWrappedAtItsTiles) {
  const LayoutFigure figure = Figure("f32[20]{0:T(8)(4)(2,1)}");
  EXPECT_EQ(Cells(figure), "0 2 4 6 / 1 3 5 7 / 8 10 12 14 / 9 11 13 15 / 16 18 20 22 / . . . .");
  EXPECT_EQ(Labels(figure.rows), "0 4 8 12 16 -");
  EXPECT_EQ(Labels(figure.columns), "+0 +1 +2 +3");
  EXPECT_EQ(figure.axes[0].description, "rows: the same dimension, wrapped after 4 positions");
  EXPECT_EQ(figure.levels[1].description,
            "(4): inner tiles of 1 row and 4 columns, not outlined: later tiles cross them");
  EXPECT_EQ(Borders(figure.rows), "1 0 1 0 1 0 1");
  EXPECT_EQ(Borders(figure.columns), "1 3 3 3 1");
  // Too long for one row.
  EXPECT_EQ(Labels(Figure("f32[40]{0:T(4)}").columns), "+0 +1 +2 +3");
}

TEST(LayoutFigureTest, SlicesHaveTheIndexOfTheOtherDimensions) {
  const LayoutFigure figure = Figure("f32[3,2,2]{2,1,0}");
  ASSERT_THAT(figure.slices, SizeIs(3));
  EXPECT_EQ(figure.slices[1].line.label, "z=1");
  EXPECT_EQ(Cells(figure, 1), "4 5 / 6 7");

  const LayoutFigure four = Figure("f32[2,3,2,2]{3,2,0,1}");
  EXPECT_EQ(four.axes[0].description, "slices: dimension 1 (z), size 3; most major");
  EXPECT_EQ(four.slices[3].line.label, "z=1, p=1");

  // Many dimensions do not bury the figure.
  const std::string many = Terminal("u8[1,1,1,1,1,1,1,1,1,2,2]");
  EXPECT_THAT(many, HasSubstr("slices: 3 more dimensions\nrows: dimension 9, size 2\ncolumns: dimension 10, size 2"));

  const LayoutFigure five = Figure("f32[2,1,1,2,2]{4,3,2,1,0}");
  EXPECT_EQ(five.slices[1].line.label, "d0=1, d1=0, d2=0");
  EXPECT_EQ(five.axes[4].description, "columns: dimension 4, size 2; most minor");
}

TEST(LayoutFigureTest, TilesOverSlices) {
  const LayoutFigure figure = Figure("f32[3,2,2]{2,1,0:T(2,2,2)}");
  ASSERT_THAT(figure.slices, SizeIs(4));
  EXPECT_EQ(Cells(figure, 1), "4 5 / 6 7");
  EXPECT_EQ(Cells(figure, 3), ". . / . .");
  EXPECT_EQ(figure.slices[3].line.label, "");
  EXPECT_EQ(figure.levels[0].description, "T(2,2,2): tiles of 2 rows and 2 columns, over 2 slices");
  EXPECT_THAT(ToTerminal(figure), HasSubstr("a slice of padding:"));
}

TEST(LayoutFigureTest, CombinedDimensionsAreOneAxis) {
  const LayoutFigure figure = Figure("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}");
  ASSERT_THAT(figure.axes, SizeIs(2));
  EXPECT_EQ(figure.axes[0].description,
            "rows: dimensions 0*1*2 merged by the tile's `*`, size 2*7*8 = 112; most major");
  EXPECT_EQ(figure.axes[1].description,
            "columns: dimensions 3*4 merged by the tile's `*`, size 11*10 = 110, padded to 111; most minor");
  EXPECT_EQ(figure.axes[1].name, "d3*d4");
  EXPECT_THAT(Cells(figure), HasSubstr("0 1 2 6 7 8"));
  EXPECT_THAT(figure.slices[0].cells.back().physical, 12431);
  EXPECT_THAT(Labels(figure.columns), HasSubstr("108 109 -"));
}

TEST(LayoutFigureTest, LaterTilesThatPadOrCross) {
  // The second tile pads inside the first.
  const LayoutFigure padded = Figure("f32[2,6]{1,0:T(3)(2)}");
  EXPECT_EQ(Cells(padded), "0 1 2 . 4 5 6 . / 8 9 10 . 12 13 14 .");
  EXPECT_EQ(Labels(padded.columns), "0 1 2 - 3 4 5 -");
  EXPECT_EQ(Borders(padded.columns), "1 0 2 0 1 0 2 0 1");
  EXPECT_EQ(padded.levels[0].description, "T(3): tiles of 1 row and 4 columns, inner padding included");
  // The second tile takes rows of two of the first.
  const LayoutFigure crossing = Figure("f32[8,8]{1,0:T(2,4)(2,1,1,1)}");
  EXPECT_EQ(crossing.slices[0].cells[6 * 8 + 5].physical, 51);
  EXPECT_EQ(crossing.levels[1].description, "(2,1,1,1): groups cells that are not adjacent here, not outlined");
  EXPECT_EQ(Borders(crossing.columns), "1 0 0 0 1 0 0 0 1");
  // A later `*` merges rows with columns.
  const LayoutFigure mixed = Figure("f32[2,4]{1,0:T(2,2)(*,2)}");
  EXPECT_EQ(mixed.axes[1].description,
            "columns: dimension 1 (x), merged with others by a later tile's `*`; 8 positions; most minor");
  EXPECT_EQ(Labels(mixed.columns), "- - - - - - - -");
}

TEST(LayoutFigureTest, HugeArraysAreCut) {
  const auto start = std::chrono::steady_clock::now();
  const LayoutFigure figure = Figure("f32[100000,100000]{1,0:T(8,128)}");
  EXPECT_TRUE(figure.is_cut());
  // The first tile border, the edge of the padding and the end are there.
  EXPECT_EQ(Labels(figure.columns), "0 1 2 3 .. 127 128 .. 99999 - .. -");
  EXPECT_EQ(Labels(figure.rows), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 .. 99998 99999");
  EXPECT_EQ(Borders(figure.columns), "1 0 0 0 0 0 1 0 0 0 0 0 1");
  EXPECT_EQ(figure.slices[0].cells.back().physical, 10009600000 - 1);
  int64_t left_out = 0;
  for (const LayoutFigure::Line& column : figure.columns) left_out += column.count;
  EXPECT_EQ(left_out, 100096);
  EXPECT_LT(ToSvg(figure).size(), 200000);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(LayoutFigureTest, ATileBorderAmongManyColumnsStays) {
  EXPECT_EQ(Labels(Figure("f32[2,300]{1,0:T(2,128)}").columns),
            "0 1 2 3 4 5 6 7 8 9 10 .. 126 127 128 129 .. 298 299 - .. - -");
  // Pairs of rows are not cut in two.
  EXPECT_EQ(Labels(Figure("f32[99,1]{1,0:T(32,1)(2,1)}").rows), "0 1 2 3 4 5 6 7 .. 30 31 32 33 .. 96 97 98 - .. - -");
}

TEST(LayoutFigureTest, ATileBorderAmongFewColumnsStays) {
  LayoutFigureOptions options;
  options.max_columns = 6;
  const LayoutFigure figure = Figure("f32[7,200]{1,0:T(8,128)}", options);
  EXPECT_EQ(Labels(figure.columns), "0 1 2 .. 127 128 .. -");
  EXPECT_EQ(Borders(figure.columns), "1 0 0 0 0 1 0 0 1");
  options.max_columns = 4;
  EXPECT_EQ(Labels(Figure("f32[7,200]{1,0:T(8,128)}", options).columns), "0 .. 127 128 .. -");
}

TEST(LayoutFigureTest, NoOptionMakesAFigureTooLarge) {
  LayoutFigureOptions options;
  options.max_rows = options.max_columns = options.max_slices = 1000000;
  for (const char* shape : {"f32[1000,1000,1000]{2,1,0:T(8,128)(4,1)}", "f32[1000,1000,1000,1000]",
                            "f32[9000000]{0:T(3)}", "f32[1000,1000]{1,0:T(10,10)(3,4)}"}) {
    const LayoutFigure figure = Figure(shape, options);
    size_t cells = 0;
    for (const LayoutFigure::Slice& slice : figure.slices) cells += slice.cells.size();
    EXPECT_LE(cells, kMaxFigureCells) << shape;
    EXPECT_GT(cells, 100) << shape;
  }
  options.max_rows = options.max_columns = options.max_slices = -7;
  EXPECT_THAT(Figure("f32[1000,1000,1000]", options).slices[0].cells, Not(IsEmpty()));
}

TEST(LayoutFigureTest, OptionsAreKeptExactly) {
  LayoutFigureOptions options;
  for (const int lines : {1, 2, 3, 7, 15, kMaxFigureLines}) {
    options.max_rows = options.max_columns = options.max_slices = lines;
    const LayoutFigure figure = Figure("f32[70,66,1001]{2,1,0:T(2,128)(2,1)}", options);
    const auto shown = [](const std::vector<LayoutFigure::Line>& all) {
      return std::count_if(all.begin(), all.end(), [](const LayoutFigure::Line& line) { return !line.is_ellipsis; });
    };
    EXPECT_EQ(shown(figure.rows), lines);
    EXPECT_EQ(shown(figure.columns), lines);
    EXPECT_TRUE(figure.is_cut());
    EXPECT_FALSE(ToSvg(figure).empty());
  }
  options.max_rows = options.max_columns = options.max_slices = 1;
  EXPECT_EQ(Labels(Figure("f32[2,2,2]", options).rows), "0 ..");
}

TEST(LayoutFigureTest, NotesSayWhatIsNotDrawn) {
  const LayoutFigure figure = Figure("f32[<=5,7]{1,0:T(2,4)L(64)E(16)M(16)}");
  EXPECT_THAT(figure.notes, ElementsAre("<=n: the bound of a dynamic dimension is drawn",
                                        "L(64): 16 positions of padding follow at the end, not drawn",
                                        "E(16): a position takes 16 bits", "M(16): 16 bytes precede position 0"));
  EXPECT_THAT(figure.axes[0].description, HasSubstr("size <=5, padded to 6"));
}

TEST(LayoutFigureTest, NothingToDraw) {
  for (const char* shape : {"f32[2,0]{1,0:T(8,128)}", "f32[0]", "s4[9223372036854775807,0,9223372036854775807]"}) {
    const absl::StatusOr<LayoutFigure> figure = MakeLayoutFigure(*ParseShape(shape));
    if (!figure.ok()) continue;  // sizes that overflow are the index map's error
    EXPECT_THAT(figure->slices, IsEmpty()) << shape;
    EXPECT_THAT(ToTerminal(*figure), HasSubstr("the array takes no memory")) << shape;
    EXPECT_THAT(ToSvg(*figure), HasSubstr("the array takes no memory")) << shape;
  }
  EXPECT_THAT(Figure("f32[2,0]").slices, IsEmpty());
}

TEST(LayoutFigureTest, Errors) {
  EXPECT_EQ(ErrorOf("(f32[2], s32[])"),
            "a figure shows one array, but (f32[2], s32[]) is a tuple of 2 shapes: draw its arrays one by one");
  EXPECT_THAT(ErrorOf("token[]"), Not(IsEmpty()));
  EXPECT_THAT(ErrorOf("f32[?]"), Not(IsEmpty()));
  EXPECT_THAT(ErrorOf("f32[3]{0:T(*)}"), Not(IsEmpty()));
  EXPECT_THAT(ErrorOf("f32[3]{0:T(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)}"), HasSubstr("at most 16"));
  EXPECT_EQ(Cells(Figure("b(f32[2,2]{1,0})")), "0 1 / 2 3");
}

TEST(LayoutFigureTest, TerminalIsFittedToItsWidth) {
  for (const int width : {100, 60, 40, 0}) {
    std::istringstream lines(Terminal("f32[100,100]{1,0:T(8,128)}", width));
    std::string line;
    bool is_grid = false;
    while (std::getline(lines, line)) {
      if (line.empty()) is_grid = !is_grid;
      size_t columns = 0;
      for (const char c : line) columns += (c & 0xC0) != 0x80 ? 1 : 0;
      if (is_grid) {
        EXPECT_LE(columns, std::max(width, 30)) << line;
      }
    }
  }
  // The first and the last column stay.
  EXPECT_THAT(Terminal("f32[100,100]", 1), HasSubstr("  0 │    0 ⋯   99 │"));
}

TEST(LayoutFigureTest, ColorIsOnlyOnDemand) {
  const LayoutFigure figure = Figure("f32[3,5]{1,0:T(2,2)}");
  TerminalOptions options;
  EXPECT_THAT(ToTerminal(figure, options), Not(HasSubstr("\x1b")));
  options.color = true;
  EXPECT_THAT(ToTerminal(figure, options), HasSubstr("\x1b[36m 0\x1b[0m"));
  options.color = false;
  options.ascii = true;
  options.cell_text = CellText::kLogical;
  const std::string text = ToTerminal(figure, options);
  EXPECT_THAT(text, HasSubstr("2 | 2,0 2,1 | 2,2 2,3 | 2,4  -- |"));
  for (const char c : text) EXPECT_EQ(c & 0x80, 0);
}

TEST(LayoutFigureTest, TitleAndLegendCanBeLeftOut) {
  const LayoutFigure figure = Figure("f32[3,5]{1,0:T(2,2)}");
  SvgOptions svg;
  svg.show_title = svg.show_legend = false;
  EXPECT_THAT(ToSvg(figure, svg), Not(HasSubstr(">15 elements")));
  EXPECT_THAT(ToSvg(figure, svg), Not(HasSubstr("position in memory (")));
  ExpectWellFormed(ToSvg(figure, svg));
  TerminalOptions terminal;
  terminal.ascii = true;
  terminal.show_title = terminal.show_legend = false;
  EXPECT_EQ(ToTerminal(figure, terminal),
            "y\\x    0  1    2  3    4\n"
            "    +=======+=======+=======+\n"
            "  0 |  0  1 |  4  5 |  8 -- |\n"
            "  1 |  2  3 |  6  7 | 10 -- |\n"
            "    +=======+=======+=======+\n"
            "  2 | 12 13 | 16 17 | 20 -- |\n"
            "    | -- -- | -- -- | -- -- |\n"
            "    +=======+=======+=======+\n");
}

// Small shapes with all kinds of tiles, uncut: each position of memory is one cell, each element stands where its index
// says, and a first tile without others pads behind the elements only.
TEST(LayoutFigureTest, FiguresAgreeWithTheIndexMap) {
  std::mt19937 random(20261121);
  const auto pick = [&](int bound) { return static_cast<int64_t>(random() % static_cast<unsigned>(bound)); };
  LayoutFigureOptions options;
  options.max_rows = options.max_columns = options.max_slices = kMaxFigureLines;
  int drawn = 0;
  for (int round = 0; round < 3000; ++round) {
    const int64_t rank = pick(5);
    std::vector<int64_t> dimensions;
    std::vector<int64_t> minor_to_major;
    for (int64_t d = 0; d < rank; ++d) {
      dimensions.push_back(1 + pick(5));
      minor_to_major.insert(minor_to_major.begin() + pick(static_cast<int>(d) + 1), d);
    }
    std::vector<Tile> tiles(static_cast<size_t>(pick(4)));
    for (Tile& tile : tiles) {
      for (int64_t n = 1 + pick(3); n > 0; --n)
        tile.add_dimensions(n > 1 && pick(6) == 0 ? Tile::kCombineDimension : 1 + pick(3));
    }
    Shape shape(F32, dimensions);
    *shape.mutable_layout() = Layout(minor_to_major, tiles);
    SCOPED_TRACE(shape.ToString(true));
    const absl::StatusOr<IndexMap> map = IndexMap::Make(shape);
    ASSERT_TRUE(map.ok()) << map.status();
    const absl::StatusOr<LayoutFigure> figure = MakeLayoutFigure(shape, options);
    ASSERT_TRUE(figure.ok()) << figure.status();
    std::set<int64_t> positions;
    int64_t elements = 0;
    for (const LayoutFigure::Slice& slice : figure->slices) {
      for (const LayoutFigure::Cell& cell : slice.cells) {
        EXPECT_TRUE(positions.insert(cell.physical).second) << cell.physical;
        if (!cell.is_element) continue;
        ++elements;
        EXPECT_EQ(map->LogicalToPhysical(cell.index), cell.physical);
        const std::string& label = figure->rows[cell.row].label;
        if (tiles.size() <= 1 && !label.empty() && rank > 1 && figure->axes.size() >= 2) {
          const LayoutFigure::Axis& rows = figure->axes[figure->axes.size() - 2];
          if (rows.dimensions.size() == 1 && figure->axes.back().dimensions != rows.dimensions) {
            EXPECT_EQ(label, absl::StrCat(cell.index[rows.dimensions[0]]));
            EXPECT_EQ(label, absl::StrCat(figure->rows[cell.row].position));
          }
        }
      }
    }
    if (figure->is_cut()) continue;
    ++drawn;
    EXPECT_EQ(positions.size(), map->tiled_element_count());
    EXPECT_EQ(elements, map->element_count());
    if (round % 50 == 0) ExpectWellFormed(ToSvg(*figure));
  }
  EXPECT_GT(drawn, 1000);
}

// Found by shape_text_fuzz.
TEST(LayoutFigureTest, TilesOfMoreThanHalfOfAllNumbers) {
  const absl::StatusOr<Shape> shape = ParseShape("s4[1,5266]{1,0:T(8399999999999991256)(*,126)(1)}");
  ASSERT_TRUE(shape.ok()) << shape.status();
  const absl::StatusOr<LayoutFigure> figure = MakeLayoutFigure(*shape, {});
  ASSERT_TRUE(figure.ok()) << figure.status();
  ExpectWellFormed(ToSvg(*figure));
}

}  // namespace
}  // namespace kashi::draw
