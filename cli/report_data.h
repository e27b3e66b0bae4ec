// The data of a module for the page of `kashi report`: what its script shows.
#ifndef KASHI_CLI_REPORT_DATA_H_
#define KASHI_CLI_REPORT_DATA_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/insight/accelerators.h"
#include "kashi/insight/counted_cost.h"
#include "kashi/insight/critical_path.h"
#include "kashi/insight/roofline.h"

namespace kashi::cli {

struct ReportTarget {
  const insight::Accelerator* accelerator = nullptr;  // null: chosen by the layouts and calls of the module
};

// What Kashi knows of a module. It points into the module and into itself: it does not move.
class ModuleReport {
 public:
  // The module must outlive it. INVALID_ARGUMENT for modules with broken links or recursion.
  static absl::StatusOr<std::unique_ptr<ModuleReport>> Create(const HloModule& module, const ReportTarget& target,
                                                              const XlaMemoryFacts& facts);

  const HloModule& module() const { return module_; }
  const insight::Accelerator& accelerator() const { return *accelerator_; }
  bool is_guess() const { return is_guess_; }
  const insight::CountedCost& cost() const { return cost_; }
  const insight::Roofline& roofline() const { return roofline_; }
  const insight::CriticalPath& critical_path() const { return critical_path_; }
  // An error if the module is too large, or `facts` are for another one.
  const absl::StatusOr<MemoryAnalysis>& memory() const { return memory_; }

 private:
  explicit ModuleReport(const HloModule& module) : module_(module) {}

  const HloModule& module_;
  const insight::Accelerator* accelerator_ = nullptr;
  bool is_guess_ = false;
  insight::CountedCost cost_;
  insight::Roofline roofline_;
  insight::CriticalPath critical_path_;
  absl::StatusOr<MemoryAnalysis> memory_ = absl::UnknownError("not analyzed");
};

// JSON objects that may stand in <script> elements. report_model.js and memory_page.js explain them.
struct ReportColumns {
  std::string module;
  std::string memory;  // its texts are those of the module
};

// Linear in the size of the module; long attributes and configurations are cut. INVALID_ARGUMENT as above.
absl::StatusOr<ReportColumns> MakeReportColumns(const ModuleReport& report);

}  // namespace kashi::cli

#endif  // KASHI_CLI_REPORT_DATA_H_
