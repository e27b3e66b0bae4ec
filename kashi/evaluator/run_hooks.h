// RunHooks: the devices of a run, and the functions that compute and watch its steps. Users set EvaluationOptions; the
// rooms above the evaluator set the hooks.
#ifndef KASHI_EVALUATOR_RUN_HOOKS_H_
#define KASHI_EVALUATOR_RUN_HOOKS_H_

namespace kashi::devices {
class DeviceFabric;
class Device;
}  // namespace kashi::devices

namespace kashi::evaluator {

class CompiledSteps;
class StepChecker;
class StepProfile;

// All must outlive the run.
struct RunHooks {
  // Machine code that evaluates some of the instructions (compiled_step.h); null: none.
  const CompiledSteps* compiled = nullptr;
  // The device of this run; null: the only device.
  devices::Device* device = nullptr;
  // Where the devices of a program of several devices run (kashi/devices/device_fabric.h); null: they are threads of
  // this process.
  devices::DeviceFabric* fabric = nullptr;
  // Compares each compiled step with the evaluator (step_checker.h); null: nothing is compared.
  StepChecker* checker = nullptr;
  // Receives the time of each step (step_profile.h); null: nothing is measured. A step in a manual region is measured
  // on all devices together.
  StepProfile* profile = nullptr;
};

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_RUN_HOOKS_H_
