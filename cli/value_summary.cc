#include "cli/value_summary.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_index.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"
#include "kashi/values/value.h"

namespace kashi::cli {

using base::WithThousands;
namespace {

constexpr int64_t kSmall = 32;
constexpr int64_t kBeginning = 8;

template <typename T>
double Magnitude(T x) {
  if constexpr (is_complex_v<T>) {
    const bool is_nan = std::isnan(x.real()) || std::isnan(x.imag());
    return is_nan ? std::numeric_limits<double>::quiet_NaN() : std::hypot(static_cast<double>(x.real()), x.imag());
  } else if constexpr (std::is_same_v<T, double> || std::is_integral_v<T>) {
    return static_cast<double>(x);
  } else {
    return static_cast<double>(static_cast<float>(x));
  }
}

// The position of the first such element in row-major order; -1 if there is none.
int64_t FirstPosition(NonFinite kind, const Value& array) {
  int64_t first = -1;
  primitive_util::ArrayTypeSwitch(
      [&](auto t) {
        using T = primitive_util::NativeTypeOf<t>;
        const T* elements = static_cast<const T*>(array.untyped_data());
        for (int64_t i = 0; i < array.element_count() && first < 0; ++i) {
          const double x = Magnitude(elements[i]);
          if (kind == NonFinite::kNan ? std::isnan(x) : std::isinf(x)) first = i;
        }
      },
      array.element_type());
  return first;
}

std::string IndexText(int64_t position, absl::Span<const int64_t> sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; position /= sizes[d]) index[d] = position % sizes[d];
  return absl::StrCat("{", absl::StrJoin(index, ","), "}");
}

// Collects the summary, array by array.
class Summary {
 public:
  void AddArray(PrimitiveType type, const void* data, int64_t count) {
    primitive_util::ArrayTypeSwitch(
        [&](auto t) {
          using T = primitive_util::NativeTypeOf<t>;
          const T* elements = static_cast<const T*>(data);
          for (int64_t i = 0; i < count; ++i) AddNumber(Magnitude(elements[i]));
        },
        type);
    summary_.elements += count;
  }
  void Add(const Value& value) {
    if (value.is_array()) AddArray(value.element_type(), value.untyped_data(), value.element_count());
    if (!value.is_tuple()) return;
    for (const Value& element : value.elements()) Add(element);
  }

  ValueSummary Finish() {
    if (summary_.finite() == 0) return summary_;
    summary_.min = min_;
    summary_.max = max_;
    summary_.mean = sum_ / static_cast<double>(summary_.finite());
    return summary_;
  }

 private:
  void AddNumber(double x) {
    if (std::isfinite(x)) {
      min_ = std::min(min_, x);
      max_ = std::max(max_, x);
      sum_ += x;
    } else {
      ++(std::isnan(x) ? summary_.nans : summary_.infinities);
    }
  }

  ValueSummary summary_;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
  double sum_ = 0;
};

// The source place by the stack frame table of the module, which metadata may use instead of a file name.
std::string FramePlace(const HloInstruction& instruction) {
  const HloModule* module = instruction.GetModule();
  const auto at = [](const auto& table, int32_t id) {
    return id > 0 && static_cast<size_t>(id) <= table.size() ? &table[id - 1] : nullptr;
  };
  if (module == nullptr) return "";
  const StackFrameIndex& index = module->stack_frame_index();
  const auto* frame = at(index.stack_frames, instruction.metadata().stack_frame_id());
  const auto* location = frame == nullptr ? nullptr : at(index.file_locations, frame->file_location_id);
  const std::string* file = location == nullptr ? nullptr : at(index.file_names, location->file_name_id);
  return file == nullptr ? "" : absl::StrCat(*file, ":", location->line);
}

}  // namespace

ValueSummary Summarize(const Value& value) {
  Summary summary;
  summary.Add(value);
  return summary.Finish();
}

ValueSummary Summarize(const Literal& array) {
  Summary summary;
  summary.AddArray(array.shape().element_type(), array.untyped_data(), array.element_count());
  return summary.Finish();
}

std::string FirstPlaceOf(NonFinite kind, const Value& value) {
  struct Part {
    const Value* value;
    ShapeIndex index;
  };
  std::vector<Part> rest = {{&value, {}}};
  while (!rest.empty()) {
    const Part part = std::move(rest.back());
    rest.pop_back();
    if (part.value->is_tuple()) {
      for (size_t i = part.value->elements().size(); i-- > 0;) {
        ShapeIndex index = part.index;
        index.push_back(static_cast<int64_t>(i));
        rest.push_back({&part.value->element(static_cast<int64_t>(i)), std::move(index)});
      }
    } else if (part.value->is_array()) {
      const int64_t position = FirstPosition(kind, *part.value);
      if (position < 0) continue;
      const std::string index = IndexText(position, part.value->dimensions());
      return part.index.empty() ? index : absl::StrCat(index, " of output ", part.index.ToString());
    }
  }
  return "";
}

std::string ToText(const ValueSummary& summary) {
  std::string text;
  if (summary.elements == 0) return "no elements";
  if (summary.finite() > 0) {
    text = absl::StrCat("min ", summary.min, ", max ", summary.max, ", mean ", summary.mean);
  }
  const auto add = [&](int64_t count, absl::string_view what) {
    if (count > 0) absl::StrAppend(&text, text.empty() ? "" : ", ", WithThousands(count), what);
  };
  add(summary.nans, " NaN");
  add(summary.infinities, " infinite");
  return text;
}

Json ToJson(const ValueSummary& summary) {
  const bool has_range = summary.finite() > 0;
  return {{"elements", summary.elements},
          {"min", has_range ? Json(summary.min) : Json()},
          {"max", has_range ? Json(summary.max) : Json()},
          {"mean", has_range ? Json(summary.mean) : Json()},
          {"nan", summary.nans},
          {"inf", summary.infinities}};
}

bool IsSmall(const Literal& array) { return array.element_count() <= kSmall; }

std::string BeginningOf(const Literal& array) {
  if (array.element_count() == 0) return "{}";  // s8[1099511627776,0] would be 2^40 {}
  if (IsSmall(array)) return array.ToStringWithoutShapeOneline();
  const absl::Span<const int64_t> sizes = array.shape().dimensions();
  std::vector<int64_t> index(sizes.size(), 0);
  std::string text;
  for (int64_t i = 0; i < kBeginning; ++i) {
    absl::StrAppend(&text, array.GetAsString(index), ", ");
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++index[d] < sizes[d]) break;
      index[d] = 0;
    }
  }
  return absl::StrCat(text, "...");
}

std::string ShortText(const HloInstruction& instruction) {
  return instruction.ToString(HloPrintOptions().set_print_metadata(false).set_print_backend_config(false));
}

std::string SourceOf(const HloInstruction& instruction) {
  const OpMetadata& metadata = instruction.metadata();
  std::string place = metadata.source_file().empty()
                          ? FramePlace(instruction)
                          : absl::StrCat(metadata.source_file(), ":", metadata.source_line());
  if (!metadata.op_name().empty()) absl::StrAppend(&place, place.empty() ? "" : " ", metadata.op_name());
  return place;
}

}  // namespace kashi::cli
