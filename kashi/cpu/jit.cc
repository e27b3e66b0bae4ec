#include "kashi/cpu/jit.h"

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kashi::internal {
namespace {

absl::Status ToStatus(llvm::Error error) {
  return absl::InternalError(absl::StrCat("LLVM: ", llvm::toString(std::move(error))));
}
llvm::StringRef Ref(absl::string_view text) { return llvm::StringRef(text.data(), text.size()); }

// LLVM for this machine. One per process, made when first needed, never freed: to make it takes some 5 ms.
class Machine {
 public:
  static absl::StatusOr<Machine*> Get() {
    static auto& machine = *new absl::StatusOr<Machine*>(Make());
    return machine;
  }

  llvm::orc::LLJIT& jit() { return *jit_; }
  const llvm::Triple& triple() const { return builder_.getTargetTriple(); }
  const llvm::orc::JITTargetMachineBuilder& builder() const { return builder_; }

 private:
  explicit Machine(llvm::orc::JITTargetMachineBuilder builder) : builder_(std::move(builder)) {}

  static absl::StatusOr<Machine*> Make() {
    if (llvm::InitializeNativeTarget() || llvm::InitializeNativeTargetAsmPrinter()) {
      return absl::UnimplementedError("this LLVM makes no code for this processor");
    }
    llvm::Expected<llvm::orc::JITTargetMachineBuilder> host = llvm::orc::JITTargetMachineBuilder::detectHost();
    if (!host) return ToStatus(host.takeError());
    host->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
    auto machine = std::unique_ptr<Machine>(new Machine(*host));
    // A target machine for each module: several threads may compile at once, and LLVM's is for one.
    const auto make_compiler = [](llvm::orc::JITTargetMachineBuilder builder)
        -> llvm::Expected<std::unique_ptr<llvm::orc::IRCompileLayer::IRCompiler>> {
      return std::make_unique<llvm::orc::ConcurrentIRCompiler>(std::move(builder));
    };
    llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> jit =
        llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*host).setCompileFunctionCreator(make_compiler).create();
    if (!jit) return ToStatus(jit.takeError());
    machine->jit_ = std::move(*jit);
    return machine.release();
  }

  llvm::orc::JITTargetMachineBuilder builder_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

// Otherwise LLVM may prefer vectors of 256 bits, and pass those of 512 bits in two halves, unlike SLEEF.
void AllowWidestVectors(llvm::Module& module) {
  const std::string bits = absl::StrCat(JitModule::VectorBits());
  for (llvm::Function& function : module) {
    function.addFnAttr("prefer-vector-width", bits);
    function.addFnAttr("min-legal-vector-width", bits);
  }
}

// What is left for LLVM after an emitter that makes vectors in SSA form: the same address computed twice, invariants of
// inner loops, and operations on constants.
void Optimise(llvm::Module& module, llvm::TargetMachine& target) {
  AllowWidestVectors(module);
  llvm::PassBuilder passes(&target);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(calls);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, calls, modules);
  llvm::FunctionPassManager all;
  all.addPass(llvm::PromotePass());
  all.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  all.addPass(llvm::InstCombinePass());
  all.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  all.addPass(llvm::ADCEPass());
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) all.run(function, functions);
  }
}

absl::StatusOr<std::string> AssemblyOf(const llvm::Module& module, llvm::TargetMachine& target) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    return absl::InternalError("LLVM prints no assembly for this processor");
  }
  passes.run(*copy);
  return std::string(text.begin(), text.end());
}

}  // namespace

JitModule::JitModule(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> module)
    : context_(std::move(context)), module_(std::move(module)) {}
JitModule::JitModule(JitModule&&) noexcept = default;
JitModule& JitModule::operator=(JitModule&& other) noexcept {
  module_ = std::move(other.module_);  // before the context that it lives in
  context_ = std::move(other.context_);
  return *this;
}
JitModule::~JitModule() = default;

absl::StatusOr<JitModule> JitModule::Create(absl::string_view name) {
  absl::StatusOr<Machine*> machine = Machine::Get();
  if (!machine.ok()) return machine.status();
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>(Ref(name), *context);
  module->setDataLayout((*machine)->jit().getDataLayout());
  module->setTargetTriple((*machine)->triple().str());
  return JitModule(std::move(context), std::move(module));
}

int JitModule::VectorBits() {
  static const int bits = [] {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 128;
    const bool has_fast_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                                 __builtin_cpu_supports("avx512bf16");
    return has_fast_avx512 ? 512 : 256;
  }();
  return bits;
}
bool JitModule::IsSupported() { return __builtin_cpu_supports("sse4.1"); }

std::string JitModule::ToString() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module_->print(stream, nullptr);
  return text;
}

// The blocks of an unfinished function may use each other in any order.
void EraseFunction(llvm::Function& function) {
  function.dropAllReferences();
  function.eraseFromParent();
}

absl::Status VerifyOrErase(llvm::Function& function) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (!llvm::verifyFunction(function, &stream)) return absl::OkStatus();
  const std::string name(function.getName());
  EraseFunction(function);
  return absl::InternalError(absl::StrCat("LLVM refuses the code of ", name, ": ", message));
}

// The code in memory: a dynamic library of the process's JIT.
class JitCode::Linked {
 public:
  Linked(llvm::orc::LLJIT& jit, llvm::orc::JITDylib& library) : jit_(jit), library_(library) {}
  ~Linked() { llvm::consumeError(jit_.getExecutionSession().removeJITDylib(library_)); }

  absl::Status Add(JitModule module, const JitOptions& options);
  absl::StatusOr<void*> Find(absl::string_view name) {
    llvm::Expected<llvm::orc::ExecutorAddr> address = jit_.lookup(library_, Ref(name));
    if (!address) return ToStatus(address.takeError());
    return address->toPtr<void*>();
  }

 private:
  llvm::orc::LLJIT& jit_;
  llvm::orc::JITDylib& library_;
};

absl::Status JitCode::Linked::Add(JitModule module, const JitOptions& options) {
  llvm::orc::SymbolMap symbols;
  for (const auto& [name, address] : options.functions) {
    symbols[jit_.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                           llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }
  if (llvm::Error error = library_.define(llvm::orc::absoluteSymbols(std::move(symbols)))) {
    return ToStatus(std::move(error));
  }
  llvm::orc::ThreadSafeModule code(std::move(module.module_), std::move(module.context_));
  if (llvm::Error error = jit_.addIRModule(library_, std::move(code))) return ToStatus(std::move(error));
  return absl::OkStatus();
}

JitCode::JitCode(std::unique_ptr<Linked> linked) : linked_(std::move(linked)) {}
JitCode::~JitCode() = default;

absl::StatusOr<std::unique_ptr<JitCode>> JitCode::Compile(JitModule module, const JitOptions& options) {
  absl::StatusOr<Machine*> machine = Machine::Get();
  if (!machine.ok()) return machine.status();
  llvm::orc::JITTargetMachineBuilder builder = (*machine)->builder();
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> target = builder.createTargetMachine();
  if (!target) return ToStatus(target.takeError());
  Optimise(module.module(), **target);
  std::string assembly;
  if (options.keep_assembly) {
    absl::StatusOr<std::string> text = AssemblyOf(module.module(), **target);
    if (!text.ok()) return text.status();
    assembly = *std::move(text);
  }
  static std::atomic<int64_t> count{0};
  llvm::orc::LLJIT& jit = (*machine)->jit();
  llvm::Expected<llvm::orc::JITDylib&> library = jit.createJITDylib(absl::StrCat("kashi-", count.fetch_add(1)));
  if (!library) return ToStatus(library.takeError());
  std::unique_ptr<JitCode> code(new JitCode(std::make_unique<Linked>(jit, *library)));
  code->assembly_ = std::move(assembly);
  if (absl::Status status = code->linked_->Add(std::move(module), options); !status.ok()) return status;
  return code;
}

absl::StatusOr<void*> JitCode::FindAddress(absl::string_view name) const { return linked_->Find(name); }

}  // namespace kashi::internal
