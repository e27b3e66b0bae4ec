#include "kashi/stablehlo/text/text_reader.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/stablehlo/bytecode/bytecode_reader.h"
#include "kashi/stablehlo/program/program.h"
#include "kashi/stablehlo/program/program_text.h"

namespace kashi::stablehlo {
namespace {

std::string FileContents(const std::filesystem::path& path) {
  std::stringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

std::vector<std::filesystem::path> TextFiles() {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path folder = std::filesystem::path(KASHI_TEST_DATA) / "stablehlo/artifacts";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".mlir") paths.push_back(file.path());
  }
  return paths;
}

// The program in canonical text, or the error.
std::string Canonical(const std::string& text) {
  const absl::StatusOr<Program> program = ReadText(text, "t.mlir");
  return program.ok() ? ProgramText(*program) : std::string(program.status().message());
}

std::string ErrorOf(const std::string& text) {
  const absl::StatusOr<Program> program = ReadText(text, "t.mlir");
  return program.ok() ? "no error" : std::string(program.status().message());
}

// A function around operations that use %a, a tensor<4xf32>, %b, the same, and %s, a scalar.
std::string Function(absl::string_view operations) {
  return absl::StrCat("func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %s: tensor<f32>) {\n", operations,
                      "\nreturn\n}\n");
}

// The canonical text of a constant's elements.
std::string Elements(absl::string_view literal, absl::string_view type) {
  const std::string text = Canonical(Function(absl::StrCat("%0 = stablehlo.constant ", literal, " : ", type)));
  const size_t begin = text.find("value = ");
  if (begin == std::string::npos) return text;
  return text.substr(begin + 8, text.find(" : ", begin) - begin - 8);
}

void ExpectSame(absl::string_view one, absl::string_view other) {
  const std::string text = Canonical(Function(one));
  EXPECT_TRUE(absl::StartsWith(text, "\"builtin.module\"")) << text;
  EXPECT_EQ(text, Canonical(Function(other))) << one;
}

void ExpectError(absl::string_view operations, absl::string_view message) {
  const std::string error = ErrorOf(Function(operations));
  EXPECT_TRUE(absl::StrContains(error, message)) << error;
}

// ---- Whole programs -------------------------------------------------------------------------------------------------

TEST(TextReader, GivesTheProgramOfTheArtifact) {
  const std::string folder = absl::StrCat(KASHI_TEST_DATA, "/stablehlo/");
  const std::string names = FileContents(folder + "same_program.txt");
  int count = 0;
  for (const absl::string_view name : absl::StrSplit(names, '\n', absl::SkipEmpty())) {
    if (name[0] == '#') continue;
    ++count;
    const std::string path = absl::StrCat(folder, "artifacts/", name);
    const std::string text = FileContents(path + ".mlir");
    const absl::StatusOr<Program> of_text = ReadText(text, name);
    ASSERT_TRUE(of_text.ok()) << of_text.status();
    const std::string bytes = FileContents(path + ".mlirbc");
    const absl::StatusOr<Program> of_bytes = ReadBytecode(bytes);
    ASSERT_TRUE(of_bytes.ok()) << of_bytes.status();
    EXPECT_EQ(ProgramText(*of_text), ProgramText(*of_bytes)) << path;
  }
  EXPECT_GT(count, 35);
}

TEST(TextReader, GivesTheProgramOfPlainBytecode) {
  const std::filesystem::path folder = std::filesystem::path(KASHI_TEST_DATA) / "stablehlo";
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder / "plain")) {
    if (file.path().extension() != ".mlirbc") continue;
    const std::string name = file.path().stem().string();
    const std::filesystem::path own = folder / "plain" / (name + ".mlir");
    const std::string text = FileContents(std::filesystem::exists(own) ? own : folder / "artifacts" / (name + ".mlir"));
    const absl::StatusOr<Program> of_text = ReadText(text, name);
    ASSERT_TRUE(of_text.ok()) << of_text.status();
    const std::string bytes = FileContents(file.path());
    const absl::StatusOr<Program> of_bytes = ReadBytecode(bytes);
    ASSERT_TRUE(of_bytes.ok()) << name << ": " << of_bytes.status();
    EXPECT_EQ(ProgramText(*of_text), ProgramText(*of_bytes)) << name;
    ++count;
  }
  EXPECT_GT(count, 50);
}

// A text may end after a whole operation of the file's level; anywhere else its end is an error.
TEST(TextReader, TruncationIsAnErrorOrAProgram) {
  for (const std::filesystem::path& path : TextFiles()) {
    const std::string text = FileContents(path);
    if (text.size() > 1200) continue;
    const size_t module_end = text.rfind('}');
    for (size_t size = 0; size < text.size(); ++size) {
      const std::string part = text.substr(0, size);
      const bool between = size <= text.find("module") || size > module_end;
      const absl::StatusOr<Program> program = ReadText(part, "t.mlir");
      EXPECT_TRUE(between || !program.ok()) << path << " at " << size;
    }
  }
}

TEST(TextReader, FunctionsWithoutModule) {
  const std::string function = "func.func @f(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }";
  EXPECT_EQ(Canonical(function), Canonical(absl::StrCat("module {\n", function, "\n}")));
  EXPECT_EQ(Canonical(""), Canonical("module {}"));
}

TEST(TextReader, GenericFormIsThePrettyForm) {
  ExpectSame("%0 = stablehlo.add %a, %b : tensor<4xf32>",
             "%0 = \"stablehlo.add\"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>");
  ExpectSame("%0 = stablehlo.slice %a [0:4:2] : (tensor<4xf32>) -> tensor<2xf32>",
             "%0 = \"stablehlo.slice\"(%a) <{start_indices = array<i64: 0>, limit_indices = array<i64: 4>, strides = "
             "array<i64: 2>}> : (tensor<4xf32>) -> tensor<2xf32>");
  ExpectSame("%0 = stablehlo.compare LT, %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
             "%0 = \"stablehlo.compare\"(%a, %b) {comparison_direction = #stablehlo<comparison_direction LT>} : "
             "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>");
  ExpectSame("%0 = stablehlo.einsum %a, %b, config = \"i,i->\" : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>",
             "%0 = \"stablehlo.einsum\"(%a, %b) <{einsum_config = \"i,i->\"}> : (tensor<4xf32>, tensor<4xf32>) -> "
             "tensor<f32>");
  ExpectSame(
      "%0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4xf32>) -> "
      "tensor<f32>",
      "%0 = \"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<"
      "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<4xf32>, tensor<4xf32>) "
      "-> tensor<f32>");
}

TEST(TextReader, ReduceForms) {
  const absl::string_view shortest =
      "%0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, "
      "tensor<f32>) -> tensor<f32>";
  ExpectSame(
      shortest,
      "%0 = stablehlo.reduce(%a init: %s) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
      "reducer(%x: tensor<f32>, %y: tensor<f32>) {\n%1 = stablehlo.add %x, %y : tensor<f32>\n"
      "stablehlo.return %1 : tensor<f32>\n}");
  ExpectSame(shortest,
             "%0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> ({\n"
             "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n%1 = stablehlo.add %x, %y : tensor<f32>\n"
             "stablehlo.return %1 : tensor<f32>\n}) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>");
}

TEST(TextReader, WhileForms) {
  ExpectSame(
      "%0 = stablehlo.while(%i = %s) : tensor<f32>\ncond {\n%1 = stablehlo.compare EQ, %i, %s : (tensor<f32>, "
      "tensor<f32>) -> tensor<i1>\nstablehlo.return %1 : tensor<i1>\n} do {\nstablehlo.return %i : tensor<f32>\n}",
      "%0 = \"stablehlo.while\"(%s) ({\n^bb0(%i: tensor<f32>):\n%1 = stablehlo.compare EQ, %i, %s : "
      "(tensor<f32>, tensor<f32>) -> tensor<i1>\nstablehlo.return %1 : tensor<i1>\n}, {\n"
      "^bb0(%i: tensor<f32>):\nstablehlo.return %i : tensor<f32>\n}) : (tensor<f32>) -> tensor<f32>");
}

TEST(TextReader, CheckAndChloOperations) {
  const std::string text =
      Canonical(Function("%0 = chlo.erf %a : tensor<4xf32> -> tensor<4xf32>\n"
                         "%1:2 = chlo.top_k(%a, k = 2) : tensor<4xf32> -> (tensor<2xf32>, "
                         "tensor<2xi32>)\n%2:2 = chlo.top_k(%a, k = 2, is_stable = false) : tensor<4xf32> -> "
                         "(tensor<2xf32>, tensor<2xi32>)\ncheck.expect_eq %0, %a : tensor<4xf32>\n"
                         "check.expect_almost_eq_const %a, dense<1.0> : tensor<4xf32>"));
  EXPECT_TRUE(absl::StrContains(text, "\"chlo.erf\"(%0) : (tensor<4xf32>) -> (tensor<4xf32>)")) << text;
  EXPECT_TRUE(absl::StrContains(text, "\"chlo.top_k\"(%0) <{k = 2 : i64}>")) << text;
  EXPECT_TRUE(absl::StrContains(text, "<{is_stable = false, k = 2 : i64}>")) << text;
  EXPECT_TRUE(absl::StrContains(text, "\"check.expect_eq\"(%3, %0)")) << text;
  EXPECT_TRUE(absl::StrContains(text, "\"check.expect_almost_eq_const\"(%0) <{value = dense<splat 0000803f>")) << text;
}

TEST(TextReader, ChannelTypeIsKeptWhereTheOperationHasIt) {
  ExpectSame(
      "%0 = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<"
      "handle = 3, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<4xf32>) -> tensor<4xf32>",
      "%0 = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 0 : i64, channel_id = 3 : i64, replica_groups = "
      "dense<0> : tensor<1x1xi64>}> : (tensor<4xf32>) -> tensor<4xf32>");
}

// ---- Elements -------------------------------------------------------------------------------------------------------

TEST(TextReaderElements, Lists) {
  EXPECT_EQ(Elements("dense<[1, -2]>", "tensor<2xi16>"), "dense<0100feff>");
  EXPECT_EQ(Elements("dense<[[1, 2], [3, 4]]>", "tensor<2x2xi8>"), "dense<01020304>");
  EXPECT_EQ(Elements("dense<[true, false]>", "tensor<2xi1>"), "dense<0100>");
  EXPECT_EQ(Elements("dense<[1.5, 0x7FC00000]>", "tensor<2xf32>"), "dense<0000c03f0000c07f>");
  EXPECT_EQ(Elements("dense<[(1.0, 2.0), (0.0, -1.0)]>", "tensor<2xcomplex<f32>>"),
            "dense<0000803f0000004000000000000080bf>");
  EXPECT_EQ(Elements("dense<[-8, 7]>", "tensor<2xi4>"), "dense<f807>");
}

TEST(TextReaderElements, Splats) {
  EXPECT_EQ(Elements("dense<3>", "tensor<4xi8>"), "dense<splat 03>");
  EXPECT_EQ(Elements("dense<[3, 3]>", "tensor<2xi8>"), "dense<splat 03>");
  EXPECT_EQ(Elements("dense<3>", "tensor<i8>"), "dense<03>");
  EXPECT_EQ(Elements("dense<>", "tensor<0xi8>"), "dense<>");
  EXPECT_EQ(Elements("dense<(1.0, 0.0)>", "tensor<2xcomplex<f32>>"), "dense<splat 0000803f00000000>");
}

TEST(TextReaderElements, Hexadecimal) {
  EXPECT_EQ(Elements("dense<\"0x0100FEFF\">", "tensor<2xi16>"), "dense<0100feff>");
  EXPECT_EQ(Elements("dense<\"0x0100\">", "tensor<2xi16>"), "dense<splat 0100>");
  ExpectError("%0 = stablehlo.constant dense<\"0x010\"> : tensor<2xi16>", "an even number of hexadecimal digits");
  ExpectError("%0 = stablehlo.constant dense<\"0x0100FE\"> : tensor<2xi16>", "3 bytes for a tensor of 2 elements");
  ExpectError("%0 = stablehlo.constant dense<\"0x01XX\"> : tensor<2xi8>", "no hexadecimal digit");
}

TEST(TextReaderElements, Resources) {
  const std::string use = Function("%0 = stablehlo.constant dense_resource<r> : tensor<2xi8>");
  const std::string text = Canonical(use + "{-# dialect_resources: { builtin: { r: \"0x0400000007FF\" } } #-}");
  EXPECT_TRUE(absl::StrContains(text, "dense<07ff> : tensor<2xi8>")) << text;
  EXPECT_TRUE(absl::StrContains(ErrorOf(use), "this resource is not in the text"));
}

TEST(TextReaderElements, ListsOfAnotherShape) {
  ExpectError("%0 = stablehlo.constant dense<[1]> : tensor<4xi32>", "1 element where the type has 4");
  ExpectError("%0 = stablehlo.constant dense<[[1]]> : tensor<1xi32>", "more nested lists than the type has");
  ExpectError("%0 = stablehlo.constant dense<[1]> : tensor<1x1xi32>", "fewer nested lists than the type has");
  ExpectError("%0 = stablehlo.constant dense<[1,]> : tensor<1xi32>", "expected an element after `,`");
  ExpectError("%0 = stablehlo.constant dense<[1] 2> : tensor<1xi32>", "expected `>`");
  ExpectError("%0 = stablehlo.constant dense<300> : tensor<i8>", "`300` is no value of type i8");
  ExpectError("%0 = stablehlo.constant dense<1> : tensor<?xi8>", "sizes are known");
}

// ---- Types, locations, aliases --------------------------------------------------------------------------------------

TEST(TextReader, Types) {
  for (const absl::string_view type :
       {"tensor<*xf32>", "tensor<2x?xf32, #stablehlo.bounds<?, 4>>", "tuple<tensor<f32>, tuple<>>", "!stablehlo.token",
        "tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>", "tensor<complex<f64>>", "tensor<f8E4M3FN>", "memref<2xf32>",
        "tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01:3,2.500000e-01}>>", "tensor<0x4xui2>", "tensor<index>"}) {
    const std::string text = Canonical(absl::StrCat("func.func private @f(%x: ", type, ")"));
    EXPECT_TRUE(absl::StartsWith(text, "\"builtin.module\"")) << text;
  }
}

TEST(TextReader, Aliases) {
  EXPECT_EQ(Canonical("!t = tensor<2xf32>\n#a = dense<1> : tensor<2xi8>\nfunc.func @f(%x: !t) attributes {k = #a} {\n"
                      "return\n}"),
            Canonical("func.func @f(%x: tensor<2xf32>) attributes {k = dense<1> : tensor<2xi8>} {\nreturn\n}"));
  ExpectError("stablehlo.custom_call @f() {k = #none} : () -> ()", "#none is not defined");
}

std::string LocationOf(const std::string& location, const std::string& aliases) {
  const std::string text = absl::StrCat("module {} loc(", location, ")\n", aliases);
  const absl::StatusOr<Program> program = ReadText(text, "t.mlir");
  return program.ok() ? LocationText(*program->module->location) : std::string(program.status().message());
}

TEST(TextReaderLocations, Forms) {
  EXPECT_EQ(LocationOf("unknown", ""), LocationOf("#l", "#l = loc(unknown)"));
  EXPECT_EQ(LocationOf("\"f.py\":3:4", ""), LocationOf("#l", "#l = loc(\"f.py\":3:4)"));
  EXPECT_EQ(LocationOf("callsite(\"a\"(\"f.py\":1:2) at \"g.py\":3:4)", ""),
            LocationOf("#c",
                       "#a = loc(\"a\"(#f))\n#f = loc(\"f.py\":1:2)\n#g = loc(\"g.py\":3:4)\n"
                       "#c = loc(callsite(#a at #g))"));
  EXPECT_TRUE(absl::StrContains(LocationOf("fused<\"m\">[\"a\", \"f.py\":1:2 to 3:4]", ""), "f.py"));
}

TEST(TextReaderLocations, Errors) {
  EXPECT_TRUE(absl::StrContains(LocationOf("#l", ""), "this location is never defined"));
  EXPECT_TRUE(absl::StrContains(LocationOf("#l", "#l = loc(\"a\"(#l))"), "this location contains itself"));
  EXPECT_TRUE(absl::StrContains(LocationOf("#l", "#l = loc(#m)\n#m = loc(\"a\")"), "a location that comes later"));
  EXPECT_TRUE(absl::StrContains(LocationOf("#l", "#l = loc(#l)"), "a location that comes later"));
}

// Chains of aliases have no level in the text.
TEST(TextReaderLocations, TooLargeOnesAreUnknown) {
  std::string chain = "#l0 = loc(\"a\")\n";
  std::string doubling = "#l0 = loc(\"a\")\n";
  for (int i = 1; i <= 2000; ++i) absl::StrAppend(&chain, "#l", i, " = loc(\"n\"(#l", i - 1, "))\n");
  for (int i = 1; i <= 60; ++i) {
    absl::StrAppend(&doubling, "#l", i, " = loc(fused[#l", i - 1, ", #l", i - 1, "])\n");
  }
  EXPECT_LT(LocationOf("#l2000", chain).size(), 20000u);
  EXPECT_LT(LocationOf("#l60", doubling).size(), 200000u);
  EXPECT_TRUE(absl::StrContains(LocationOf("#l500", chain), "\"a\""));
}

TEST(TextReaderAliases, TooLargeOnesAreErrors) {
  std::string types = "!t0 = tuple<tensor<f32>>\n";
  std::string attributes = "#a0 = [1]\n";
  for (int i = 1; i <= 60; ++i) {
    absl::StrAppend(&types, "!t", i, " = tuple<!t", i - 1, ", !t", i - 1, ">\n");
    absl::StrAppend(&attributes, "#a", i, " = [#a", i - 1, ", #a", i - 1, "]\n");
  }
  EXPECT_TRUE(absl::StrContains(ErrorOf(types), "more parts than this text may have")) << ErrorOf(types);
  EXPECT_TRUE(absl::StrContains(ErrorOf(attributes), "more parts than this text may have")) << ErrorOf(attributes);
}

TEST(TextReaderAliases, TooDeepOnesAreErrors) {
  std::string types = "!t0 = tuple<tensor<f32>>\n";
  std::string attributes = "#a0 = [1]\n";
  for (int i = 1; i <= 20000; ++i) {
    absl::StrAppend(&types, "!t", i, " = tuple<!t", i - 1, ">\n");
    absl::StrAppend(&attributes, "#a", i, " = [#a", i - 1, "]\n");
  }
  EXPECT_TRUE(absl::StrContains(ErrorOf(types), "too many levels of nesting")) << ErrorOf(types);
  EXPECT_TRUE(absl::StrContains(ErrorOf(attributes), "too many levels of nesting")) << ErrorOf(attributes);
}

// Values of large types, each with few bytes.
TEST(TextReaderAliases, ManyValuesOfLargeTypesAreErrors) {
  std::string text = "!t = tuple<tensor<f32>";
  for (int i = 0; i < 20000; ++i) absl::StrAppend(&text, ", tensor<f32>");
  absl::StrAppend(&text, ">\nfunc.func @main(%a: tensor<f32>) {\n");
  for (int i = 0; i < 5000; ++i) {
    absl::StrAppend(&text, "%", i,
                    " = \"stablehlo.custom_call\"(%a) {call_target_name = \"f\"} : (tensor<f32>) -> !t\n");
  }
  absl::StrAppend(&text, "return\n}\n");
  EXPECT_TRUE(absl::StrContains(ErrorOf(text), "more parts than this text may have")) << ErrorOf(text);
}

// ---- Convolution ----------------------------------------------------------------------------------------------------

std::string Convolution(absl::string_view dimensions, absl::string_view window) {
  return ErrorOf(absl::StrCat("func.func @f(%x: tensor<1x4x1xf32>, %k: tensor<2x1x1xf32>) {\n",
                              "%0 = stablehlo.convolution(%x, %k) dim_numbers = ", dimensions, ", window = {", window,
                              "} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, "
                              "tensor<2x1x1xf32>) -> tensor<1x3x1xf32>\nreturn\n}"));
}

TEST(TextReaderConvolution, Dimensions) {
  EXPECT_EQ(Convolution("[b, 0, f]x[0, i, o]->[b, 0, f]", "stride = [1], pad = [[0, 0]]"), "no error");
  const auto contains = [](const std::string& error, absl::string_view message) {
    EXPECT_TRUE(absl::StrContains(error, message)) << error;
  };
  contains(Convolution("[b, 1, f]x[0, i, o]->[b, 0, f]", ""), "no spatial dimension 0");
  contains(Convolution("[b, 0, f]x[0, 0, o]->[b, 0, f]", ""), "two dimensions 0");
  contains(Convolution("[b, 0, b]x[0, i, o]->[b, 0, f]", ""), "two dimensions b");
  contains(Convolution("[b, 0, f]x[0, i, o]->[b, 0, 1]", ""), "no dimension f");
  contains(Convolution("[b, 0, f]x[0, i, f]->[b, 0, f]", ""), "a letter of `io`");
}

TEST(TextReaderConvolution, Padding) {
  const absl::string_view dimensions = "[b, 0, f]x[0, i, o]->[b, 0, f]";
  EXPECT_TRUE(absl::StrContains(Convolution(dimensions, "pad = [[1, 2, 3]]"), "padding"));
  EXPECT_TRUE(absl::StrContains(Convolution(dimensions, "pad = [1, 2]"), "padding"));
  EXPECT_TRUE(absl::StrContains(Convolution(dimensions, "pad = [[\"a\", 2]]"), "padding"));
  const std::string empty = Canonical(
      "func.func @f(%x: tensor<1x1xf32>, %k: tensor<1x1xf32>) {\n%0 = stablehlo.convolution(%x, %k) dim_numbers = "
      "[b, f]x[i, o]->[b, f], window = {stride = [], pad = []} {batch_group_count = 1 : i64, feature_group_count = 1 : "
      "i64} : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>\nreturn\n}");
  EXPECT_TRUE(absl::StrContains(empty, "padding = dense<> : tensor<0x2xi64>")) << empty;
}

// ---- Errors ---------------------------------------------------------------------------------------------------------

TEST(TextReaderErrors, PointAtTheToken) {
  EXPECT_EQ(ErrorOf("func.func @f(%a: tensor<4xf32>) {\n  %0 = stablehlo.sine %x : tensor<4xf32>\n}"),
            "t.mlir:2:23: error: %x is used before its definition\n"
            "  %0 = stablehlo.sine %x : tensor<4xf32>\n"
            "                      ^~");
  EXPECT_EQ(ErrorOf("module {\n  stablehlo.sinus\n}"),
            "t.mlir:2:3: error: the dialect `stablehlo` has no operation `stablehlo.sinus`\n"
            "  stablehlo.sinus\n"
            "  ^~~~~~~~~~~~~~~");
}

TEST(TextReaderErrors, Counts) {
  ExpectError("%0 = stablehlo.add %a : tensor<4xf32>", "stablehlo.add has 1 operand, expected lhs, rhs");
  ExpectError("stablehlo.custom_call @f(%a) : () -> ()", "0 types for 1 operand");
  ExpectError("%0:2 = stablehlo.sine %a : tensor<4xf32>", "more names than results");
  ExpectError("stablehlo.sine %a : tensor<4xf32>", "1 result without a name");
  ExpectError("%0 = \"stablehlo.while\"(%a) : (tensor<4xf32>) -> tensor<4xf32>", "has 0 regions, expected 2");
  ExpectError("%a = stablehlo.sine %a : tensor<4xf32>", "%a is defined already");
  ExpectError(
      "%0 = stablehlo.reduce(%a init: %s) applies stablehlo.while across dimensions = [0] : (tensor<4xf32>, "
      "tensor<f32>) -> tensor<f32>",
      "`stablehlo.while` is no operation of two values");
}

TEST(TextReaderErrors, DeepNestingIsAnError) {
  std::string regions;
  for (int i = 0; i < 5000; ++i) regions += "module {\n";
  EXPECT_TRUE(absl::StrContains(ErrorOf(regions), "too many levels of nesting"));
  for (const absl::string_view open : {"[", "{a = ", "loc(fused[", "tuple<", "() -> "}) {
    std::string text = "module attributes {a = ";
    for (int i = 0; i < 20000; ++i) text.append(open.data(), open.size());
    EXPECT_NE(ErrorOf(text), "no error");
  }
}

TEST(SplitModules, AtLinesOfDashes) {
  const std::vector<SourceText> parts = SplitModules("module {}\n// -----\nmodule {}\n", "t.mlir");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].text, "module {}\n");
  EXPECT_EQ(parts[1].text, "module {}\n");
  EXPECT_EQ(parts[1].first_line, 3u);
}

}  // namespace
}  // namespace kashi::stablehlo
