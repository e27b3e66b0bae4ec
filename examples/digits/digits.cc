// digits: handwritten digits, read and learnt by a small network that JAX exported as HLO.
//
//   digits FOLDER      the folder of this file, with the modules and arrays that make.py wrote
//
// An example of a program that runs HLO: read a module, read arrays under the shapes of its parameters, evaluate. First
// the network as JAX wrote it, then the same optimised for a TPU, then 300 steps of training from random weights. XLA's
// own results stand beside the modules. Exit status 1: something cannot be read or evaluated, or is not XLA's result.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <ios>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/literal_util.h"
#include "kashi/literal/npy.h"

namespace kashi {
namespace {

constexpr int kClasses = 10;
constexpr int kTestDigits = 360;
constexpr int kPixels = 8;  // along each side of an image
// Parameters of all three modules, in this order; trained/ and untrained/ have a file of each.
constexpr const char* kWeights[] = {"conv1_filter", "conv1_bias",   "conv2_filter",
                                    "conv2_bias",   "dense_matrix", "dense_bias"};
constexpr int kWeightCount = std::size(kWeights);
constexpr int kTrainingSteps = 300;
constexpr int kStepsPerLine = 25;  // of the loss curve

class Stopwatch {
 public:
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

// ---- Reading --------------------------------------------------------------------------------------------------------

absl::StatusOr<std::string> ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (!file) return NotFound("cannot read %s", path);
  return bytes;
}

absl::StatusOr<std::unique_ptr<HloModule>> ReadModule(const std::string& path) {
  KASHI_ASSIGN_OR_RETURN(const std::string text, ReadBytes(path));
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(text));
  // Evaluation trusts what the verifier has seen. Mixed precision: a TPU convolves bf16 with f32.
  HloVerifier verifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true);
  KASHI_RETURN_IF_ERROR(verifier.Run(module.get()).status());
  return module;
}

// With the layout of the shape: the .npy files are row-major, but a TPU has its own taste.
absl::StatusOr<Literal> ReadArray(const std::string& folder, const std::string& name, const Shape& shape) {
  const std::string path = absl::StrCat(folder, "/", name, ".npy");
  KASHI_ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(path));
  absl::StatusOr<Literal> array = ReadNpy(bytes, shape);
  if (!array.ok()) return InvalidArgument("%s: %s", path, array.status().message());
  return array;
}

// The arrays of these names as the module's parameters. The one named "" is left for the caller to set.
absl::StatusOr<std::vector<Literal>> ReadArguments(const HloModule& module, const std::string& folder,
                                                   absl::Span<const std::string> names) {
  const HloComputation& entry = *module.entry_computation();
  if (entry.num_parameters() != names.size()) return InvalidArgument("%s: other parameters", module.name());
  std::vector<Literal> arguments(names.size());
  for (int i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    KASHI_ASSIGN_OR_RETURN(arguments[i], ReadArray(folder, names[i], entry.parameter_instruction(i)->shape()));
  }
  return arguments;
}

std::vector<std::string> ArgumentNames(const std::string& weights, absl::Span<const char* const> others) {
  std::vector<std::string> names;
  for (const char* name : kWeights) names.push_back(absl::StrCat(weights, "/", name));
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

// ---- Answers --------------------------------------------------------------------------------------------------------

// The class of the largest logit, for each row of f32[N,10].
std::vector<int> AnswersOf(const Literal& logits) {
  std::vector<int> answers(logits.shape().dimensions(0));
  for (int64_t i = 0; i < answers.size(); ++i) {
    for (int digit = 1; digit < kClasses; ++digit) {
      if (logits.Get<float>({i, digit}) > logits.Get<float>({i, answers[i]})) answers[i] = digit;
    }
  }
  return answers;
}

template <typename A, typename B>
int CountSame(const A& a, const B& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0, std::plus<>(), std::equal_to<>());
}

// The layouts may differ.
float LargestDifference(const Literal& a, const Literal& b) {
  float largest = 0;
  a.EachCell<float>([&](absl::Span<const int64_t> index, float value) {
    largest = std::max(largest, std::abs(value - b.Get<float>(index)));
  });
  return largest;
}

struct Reading {
  Literal logits;
  std::vector<int> answers;
  double seconds;
};

absl::StatusOr<Reading> Read(const HloModule& module, absl::Span<const Literal> arguments) {
  const Stopwatch watch;
  Reading reading;
  KASHI_ASSIGN_OR_RETURN(reading.logits, HloEvaluator().Evaluate(module, arguments));
  reading.seconds = watch.Seconds();
  reading.answers = AnswersOf(reading.logits);
  return reading;
}

// ---- Pictures -------------------------------------------------------------------------------------------------------

// The ink at a place of an image u8[N,8,8], between the centres of four pixels.
double InkAt(const Literal& images, int64_t image, double y, double x) {
  y = std::clamp(y, 0.0, kPixels - 1.0);
  x = std::clamp(x, 0.0, kPixels - 1.0);
  const int64_t top = std::min<int64_t>(y, kPixels - 2);
  const int64_t left = std::min<int64_t>(x, kPixels - 2);
  const auto row = [&](int64_t at) {
    const double right_part = x - left;
    return images.Get<uint8_t>({image, at, left}) * (1 - right_part) +
           images.Get<uint8_t>({image, at, left + 1}) * right_part;
  };
  return row(top) * (1 - (y - top)) + row(top + 1) * (y - top);
}

// A line of the picture, one of eight, of sixteen characters: a pixel becomes two by two dots, two of them a character.
std::string PictureLine(const Literal& images, int64_t image, int line) {
  constexpr const char* kBlocks[] = {" ", "▀", "▄", "█"};
  constexpr double kHalfInk = 7.5;
  std::string text;
  for (int column = 0; column < 2 * kPixels; ++column) {
    const auto is_ink = [&](int dot) {
      return InkAt(images, image, (dot + 0.5) / 2 - 0.5, (column + 0.5) / 2 - 0.5) > kHalfInk;
    };
    text += kBlocks[is_ink(2 * line) + 2 * is_ink(2 * line + 1)];
  }
  return text;
}

// Two digits that were read right, and the first that was not.
void ShowDigits(const Literal& images, absl::Span<const int32_t> labels, const std::vector<int>& answers) {
  const int misread = std::mismatch(answers.begin(), answers.end(), labels.begin()).first - answers.begin();
  const std::array<int, 3> shown = {0, 4, std::min<int>(misread, answers.size() - 1)};
  for (int line = 0; line < kPixels; ++line) {
    for (int image : shown) absl::PrintF("    %s", PictureLine(images, image, line));
    absl::PrintF("\n");
  }
  for (int image : shown) absl::PrintF("      %d, read as %d  ", labels[image], answers[image]);
  absl::PrintF("\n\n");
}

// To an eighth of a character; at most a line of them, and nothing for NaN.
std::string Bar(double characters) {
  constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = std::lround(std::fmin(std::fmax(characters, 0), 80) * 8);
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + kEighths[eighths % 8];
}

// ---- What is shown --------------------------------------------------------------------------------------------------

struct Test {
  Literal images;      // u8[360,8,8]
  Literal labels;      // s32[360]
  Literal xla_logits;  // f32[360,10], which XLA computes with the trained weights
};

absl::StatusOr<Test> ReadTest(const std::string& folder) {
  Test test;
  const auto read = [&](const char* name, PrimitiveType type, absl::Span<const int64_t> dimensions) {
    return ReadArray(folder, name, ShapeUtil::MakeShape(type, dimensions));
  };
  KASHI_ASSIGN_OR_RETURN(test.images, read("test_images", U8, {kTestDigits, kPixels, kPixels}));
  KASHI_ASSIGN_OR_RETURN(test.labels, read("test_labels", S32, {kTestDigits}));
  KASHI_ASSIGN_OR_RETURN(test.xla_logits, read("xla_logits", F32, {kTestDigits, kClasses}));
  return test;
}

std::string Score(const Reading& reading, const Test& test) {
  const int right = CountSame(reading.answers, test.labels.data<int32_t>());
  return absl::StrFormat("%d of %d right (%.1f %%)", right, kTestDigits, 100.0 * right / kTestDigits);
}

// The classifier of a module, with the trained weights, on the digits held back.
absl::StatusOr<Reading> ReadDigits(const std::string& folder, const std::string& module_name) {
  KASHI_ASSIGN_OR_RETURN(const auto module, ReadModule(absl::StrCat(folder, "/", module_name)));
  KASHI_ASSIGN_OR_RETURN(const std::vector<Literal> arguments,
                         ReadArguments(*module, folder, ArgumentNames("trained", {"test_images"})));
  return Read(*module, arguments);
}

absl::Status ShowScore(const char* name, const Reading& reading, const Test& test) {
  const int agreeing = CountSame(reading.answers, AnswersOf(test.xla_logits));
  absl::PrintF("%-14s %s in %.0f ms; %d answers as XLA's, logits within %.1g\n", name, Score(reading, test),
               reading.seconds * 1e3, agreeing, LargestDifference(test.xla_logits, reading.logits));
  return agreeing == kTestDigits ? absl::OkStatus() : Internal("%s: not XLA's answers", name);
}

absl::Status ShowReading(const std::string& folder, const Test& test) {
  KASHI_ASSIGN_OR_RETURN(const Reading reading, ReadDigits(folder, "model.hlo"));
  absl::PrintF("%d digits that the network has not seen; three of them:\n\n", kTestDigits);
  ShowDigits(test.images, test.labels.data<int32_t>(), reading.answers);
  KASHI_RETURN_IF_ERROR(ShowScore("model.hlo", reading, test));
  KASHI_ASSIGN_OR_RETURN(const Reading tpu_reading, ReadDigits(folder, "model-tpu.hlo"));
  KASHI_RETURN_IF_ERROR(ShowScore("model-tpu.hlo", tpu_reading, test));
  absl::PrintF("%-14s (XLA optimised this one for a TPU, which keeps values between layers in bf16)\n", "");
  return absl::OkStatus();
}

// Mean of a line of the loss curve.
double MeanLoss(absl::Span<const float> losses, int line) {
  const auto part = losses.subspan(line * kStepsPerLine, kStepsPerLine);
  return std::accumulate(part.begin(), part.end(), 0.0) / part.size();
}

// One line, for the steps that end with the last loss.
void ShowLosses(absl::Span<const float> losses, absl::Span<const float> xla_losses) {
  constexpr double kCharactersPerUnit = 40;
  const int line = losses.size() / kStepsPerLine - 1;
  const double loss = MeanLoss(losses, line);
  absl::PrintF("  steps %3d to %3d   loss %.4f  (XLA %.4f)  %s\n", line * kStepsPerLine, losses.size() - 1, loss,
               MeanLoss(xla_losses, line), Bar(loss * kCharactersPerUnit));
  std::fflush(stdout);
}

absl::Status CheckLosses(absl::Span<const float> losses, absl::Span<const float> xla_losses) {
  constexpr double kTolerance = 0.01;  // small differences grow from step to step
  for (int line = 0; line < kTrainingSteps / kStepsPerLine; ++line) {
    const bool near = std::abs(MeanLoss(losses, line) - MeanLoss(xla_losses, line)) <= kTolerance;
    if (!near) return Internal("train.hlo: not XLA's losses");  // nor is NaN
  }
  return absl::OkStatus();
}

// Trains the weights, which are the first of the arguments of train.hlo, in place.
absl::StatusOr<std::vector<float>> Train(const HloModule& module, absl::Span<const float> xla_losses,
                                         std::vector<Literal>* arguments) {
  HloEvaluator evaluator;
  std::vector<float> losses;
  for (int step = 0; step < kTrainingSteps; ++step) {
    (*arguments)[kWeightCount] = LiteralUtil::CreateR0<int32_t>(step);
    KASHI_ASSIGN_OR_RETURN(Literal result, evaluator.Evaluate(module, *arguments));
    std::vector<Literal> elements = result.DecomposeTuple();  // the new weights, and the loss
    losses.push_back(elements.back().GetFirstElement<float>());
    std::move(elements.begin(), elements.end() - 1, arguments->begin());
    if (losses.size() % kStepsPerLine == 0) ShowLosses(losses, xla_losses);
  }
  return losses;
}

absl::Status ShowTraining(const std::string& folder, const Test& test) {
  KASHI_ASSIGN_OR_RETURN(const Literal xla_losses,
                         ReadArray(folder, "xla_losses", ShapeUtil::MakeShape(F32, {kTrainingSteps})));
  KASHI_ASSIGN_OR_RETURN(const auto train, ReadModule(absl::StrCat(folder, "/train.hlo")));
  const std::vector<std::string> names = ArgumentNames("untrained", {"", "train_images", "train_labels"});
  KASHI_ASSIGN_OR_RETURN(std::vector<Literal> arguments, ReadArguments(*train, folder, names));
  absl::PrintF("\ntrain.hlo, %d times, from random weights; 32 of %d digits a step:\n\n", kTrainingSteps,
               arguments.back().element_count());
  const Stopwatch watch;
  KASHI_ASSIGN_OR_RETURN(const std::vector<float> losses, Train(*train, xla_losses.data<float>(), &arguments));
  const double seconds = watch.Seconds();

  KASHI_ASSIGN_OR_RETURN(const auto model, ReadModule(absl::StrCat(folder, "/model.hlo")));
  arguments.resize(kWeightCount);
  arguments.push_back(test.images.Clone());
  KASHI_ASSIGN_OR_RETURN(const Reading reading, Read(*model, arguments));
  absl::PrintF("\nThat took %.1f s, %.1f ms a step. With these weights, model.hlo reads %s.\n", seconds,
               seconds * 1e3 / kTrainingSteps, Score(reading, test));
  return CheckLosses(losses, xla_losses.data<float>());
}

absl::Status Show(const std::string& folder) {
  KASHI_ASSIGN_OR_RETURN(const Test test, ReadTest(folder));
  KASHI_RETURN_IF_ERROR(ShowReading(folder, test));
  return ShowTraining(folder, test);
}

}  // namespace
}  // namespace kashi

int main(int argc, char** argv) {
  if (argc != 2) {
    absl::FPrintF(stderr, "usage: digits FOLDER\n");
    return 2;
  }
  const absl::Status status = kashi::Show(argv[1]);
  if (!status.ok()) absl::FPrintF(stderr, "digits: error: %s\n", status.message());
  return status.ok() ? 0 : 1;
}
