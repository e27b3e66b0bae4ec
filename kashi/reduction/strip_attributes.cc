// Transformations of what instructions and modules can do without (attributes.h).
#include <vector>

#include "kashi/reduction/attributes.h"
#include "kashi/reduction/resize.h"
#include "kashi/reduction/transformations.h"

namespace kashi::reduction {
namespace {

template <typename Add>
void ForEachInstruction(const HloModule& module, Add add) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) add(instruction);
  }
}

// The parts of a window dimension, as numbers of sites: dimension * kWindowParts + part.
constexpr int kWindowParts = 6;

bool HasPart(const WindowDimension& dimension, int part) {
  const bool has[kWindowParts] = {dimension.stride() > 1,        dimension.padding_low() != 0,
                                  dimension.padding_high() != 0, dimension.window_dilation() > 1,
                                  dimension.base_dilation() > 1, dimension.window_reversal()};
  return has[part];
}

void ErasePart(int part, WindowDimension* dimension) {
  if (part == 0) dimension->set_stride(1);
  if (part == 1) dimension->set_padding_low(0);
  if (part == 2) dimension->set_padding_high(0);
  if (part == 3) dimension->set_window_dilation(1);
  if (part == 4) dimension->set_base_dilation(1);
  if (part == 5) dimension->set_window_reversal(false);
}

}  // namespace

// Kind by kind, so that the first halves are whole kinds.
Sites FindAttributes(const HloModule& module) {
  Sites sites;
  for (size_t kind = 0; kind < AttributeKinds().size(); ++kind) {
    ForEachInstruction(module, [&](const HloInstruction* instruction) {
      if (AttributeKinds()[kind].count(*instruction) > 0) sites.push_back({instruction, static_cast<int64_t>(kind)});
    });
  }
  return sites;
}

absl::Status EraseAttributes(absl::Span<const Site> sites, ModuleEdit* edit) {
  for (const Site& site : sites) AttributeKinds()[site.number].erase(edit->CopyOf(*site.instruction));
  return absl::OkStatus();
}

Sites FindModuleAttributes(const HloModule& module) {
  Sites sites;
  for (size_t kind = 0; kind < ModuleAttributeKinds().size(); ++kind) {
    if (ModuleAttributeKinds()[kind].count(module) > 0) sites.push_back({nullptr, static_cast<int64_t>(kind)});
  }
  return sites;
}

absl::Status EraseModuleAttributes(absl::Span<const Site> sites, ModuleEdit* edit) {
  for (const Site& site : sites) edit->ChangeAtEnd(ModuleAttributeKinds()[site.number].erase);
  return absl::OkStatus();
}

Sites FindOptionalFields(const HloModule& module) {
  Sites sites;
  ForEachInstruction(module, [&](const HloInstruction* instruction) {
    for (const HloField field : OptionalFieldsOf(*instruction)) {
      sites.push_back({instruction, static_cast<int64_t>(field)});
    }
  });
  return sites;
}

absl::Status EraseOptionalFields(absl::Span<const Site> sites, ModuleEdit* edit) {
  for (const Site& site : sites) {
    edit->CopyOf(*site.instruction)->mutable_fields()->Erase(static_cast<HloField>(site.number));
  }
  return absl::OkStatus();
}

Sites FindWindowParts(const HloModule& module) {
  Sites sites;
  ForEachInstruction(module, [&](const HloInstruction* instruction) {
    const Window& window = instruction->window();
    for (int i = 0; i < window.dimensions_size() * kWindowParts; ++i) {
      if (HasPart(window.dimensions(i / kWindowParts), i % kWindowParts)) sites.push_back({instruction, i});
    }
  });
  return sites;
}

// The shape of the result may change, and those of all that use it.
absl::Status EraseWindowParts(absl::Span<const Site> sites, ModuleEdit* edit) {
  for (const Site& site : sites) {
    HloInstruction* const instruction = edit->CopyOf(*site.instruction);
    const int number = static_cast<int>(site.number);
    ErasePart(number % kWindowParts,
              instruction->mutable_fields()->Mutable<HloField::window>()->mutable_dimensions(number / kWindowParts));
  }
  return ResizeModule(edit, [](int64_t size) { return size; });
}

}  // namespace kashi::reduction
