#include "kashi/cpu/jit.h"

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/cpu/vector_math.h"

namespace kashi::cpu {
namespace {

absl::Status ToStatus(llvm::Error error) {
  return absl::InternalError(absl::StrCat("LLVM: ", llvm::toString(std::move(error))));
}

// LLVM instructions, before it optimises, that are worth a module: some 20 ms. Each module costs some 0.3 ms.
constexpr unsigned kInstructionsOfModule = 2000;

// LLVM's JIT, which only links. One per process, made when first needed, never freed: to make it takes some 5 ms.
class Linker {
 public:
  static absl::StatusOr<Linker*> Get() {
    static auto& linker = *new absl::StatusOr<Linker*>(Make());
    return linker;
  }

  llvm::orc::LLJIT& jit() const { return *jit_; }
  codegen::CodeTarget CodeTargetOf(const Target& target) const {
    return {builder_.getTargetTriple().str(), jit_->getDataLayout().getStringRepresentation(), target.vector_bits(),
            target.has_fma(), &VectorMath()};
  }
  // LLVM's compiler for a target. One for each JitCompiler: several threads may compile at once, and LLVM's is for one.
  absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeMachine(const Target& target) const {
    llvm::orc::JITTargetMachineBuilder builder = builder_;
    builder.setCPU(target.processor());
    builder.getFeatures() = llvm::SubtargetFeatures(target.features());
    llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = builder.createTargetMachine();
    if (!machine) return ToStatus(machine.takeError());
    return std::move(*machine);
  }

 private:
  explicit Linker(llvm::orc::JITTargetMachineBuilder builder) : builder_(std::move(builder)) {}

  static absl::StatusOr<Linker*> Make() {
    if (llvm::InitializeNativeTarget() || llvm::InitializeNativeTargetAsmPrinter()) {
      return absl::UnimplementedError("this LLVM makes no code for this processor");
    }
    llvm::orc::JITTargetMachineBuilder builder{llvm::Triple(llvm::sys::getProcessTriple())};
    builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
    auto linker = std::unique_ptr<Linker>(new Linker(builder));
    llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> jit =
        llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create();
    if (!jit) return ToStatus(jit.takeError());
    linker->jit_ = std::move(*jit);
    return linker.release();
  }

  llvm::orc::JITTargetMachineBuilder builder_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

// Otherwise LLVM may prefer vectors of 256 bits, and pass those of 512 bits in two halves, unlike SLEEF.
void AllowWidestVectors(llvm::Module& module, const Target& target) {
  const std::string bits = absl::StrCat(target.vector_bits());
  for (llvm::Function& function : module) {
    function.addFnAttr("prefer-vector-width", bits);
    function.addFnAttr("min-legal-vector-width", bits);
  }
}

bool ComesFromHalf(const llvm::Value* value) {
  if (value->getType()->getScalarType()->isHalfTy()) return true;
  const auto* const extended = llvm::dyn_cast<llvm::FPExtInst>(value);
  return extended != nullptr && extended->getSrcTy()->getScalarType()->isHalfTy();
}

// Numbers of f16 are compared as f32. LLVM 19 has an error in comparisons of f16 (AVX512-FP16) under a mask: to load an
// operand it swaps the two, but not the direction, so `m and p < s` becomes `m and s < p`. The fence keeps it from
// making a comparison of f16 of this one again.
void CompareHalvesAsFloats(llvm::Function& function) {
  std::vector<llvm::FCmpInst*> comparisons;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* const comparison = llvm::dyn_cast<llvm::FCmpInst>(&instruction);
    if (comparison == nullptr) continue;
    if (llvm::any_of(comparison->operand_values(), ComesFromHalf)) comparisons.push_back(comparison);
  }
  for (llvm::FCmpInst* comparison : comparisons) {
    llvm::IRBuilder<> ir(comparison);
    for (llvm::Use& operand : comparison->operands()) {
      llvm::Value* value = operand.get();
      if (value->getType()->getScalarType()->isHalfTy()) {
        value = ir.CreateFPExt(value, value->getType()->getWithNewType(ir.getFloatTy()));
      }
      operand.set(ir.CreateArithmeticFence(value, value->getType()));
    }
  }
}

// The remaining work for LLVM after an emitter of vectors in SSA form: the same address computed twice, invariants of
// inner loops, and operations on constants.
absl::Status Optimise(llvm::Module& module, llvm::TargetMachine& machine, StopFunction check_stopped) {
  llvm::PassBuilder passes(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(calls);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, calls, modules);
  const auto run_on_all = [&](llvm::FunctionPassManager& passes_of_function) -> absl::Status {
    for (llvm::Function& function : module) {
      if (function.isDeclaration()) continue;
      KASHI_RETURN_IF_ERROR(check_stopped());
      passes_of_function.run(function, functions);
    }
    return absl::OkStatus();
  };
  llvm::FunctionPassManager early, late;
  early.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  early.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  KASHI_RETURN_IF_ERROR(run_on_all(early));
  // Equal calls are one by now.
  if (llvm::any_of(module, [](const llvm::Function& f) { return f.hasFnAttribute(llvm::Attribute::AlwaysInline); })) {
    llvm::ModulePassManager inlining;
    inlining.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
    inlining.run(module, modules);
    late.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  }
  late.addPass(llvm::InstCombinePass());
  late.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  late.addPass(llvm::ADCEPass());
  KASHI_RETURN_IF_ERROR(run_on_all(late));
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) CompareHalvesAsFloats(function);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> AssemblyOf(const llvm::Module& module, llvm::TargetMachine& machine) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    return absl::InternalError("LLVM prints no assembly for this processor");
  }
  passes.run(*copy);
  return std::string(text.begin(), text.end());
}

}  // namespace

// The code in memory: a dynamic library of the process's JIT.
class JitCode::Library {
 public:
  static absl::StatusOr<std::unique_ptr<Library>> Create(
      const absl::flat_hash_map<std::string, const void*>& functions);
  ~Library() { llvm::consumeError(jit_.getExecutionSession().removeJITDylib(library_)); }

  // Links an object file. Adds the addresses of these functions of it.
  absl::Status Add(std::unique_ptr<llvm::MemoryBuffer> object, const std::vector<std::string>& names,
                   absl::flat_hash_map<std::string, void*>* addresses);

 private:
  Library(llvm::orc::LLJIT& jit, llvm::orc::JITDylib& library) : jit_(jit), library_(library) {}

  llvm::orc::LLJIT& jit_;
  llvm::orc::JITDylib& library_;
};

absl::StatusOr<std::unique_ptr<JitCode::Library>> JitCode::Library::Create(
    const absl::flat_hash_map<std::string, const void*>& functions) {
  static std::atomic<int64_t> count{0};
  KASHI_ASSIGN_OR_RETURN(const Linker* const linker, Linker::Get());
  llvm::orc::LLJIT& jit = linker->jit();
  llvm::Expected<llvm::orc::JITDylib&> library = jit.createJITDylib(absl::StrCat("kashi-", count.fetch_add(1)));
  if (!library) return ToStatus(library.takeError());
  library->setLinkOrder({});  // not the process, whose functions differ from build to build
  std::unique_ptr<Library> made(new Library(jit, *library));
  llvm::orc::SymbolMap symbols;
  for (const auto& [name, address] : functions) {
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }
  if (llvm::Error error = library->define(llvm::orc::absoluteSymbols(std::move(symbols)))) {
    return ToStatus(std::move(error));
  }
  return made;
}

absl::Status JitCode::Library::Add(std::unique_ptr<llvm::MemoryBuffer> object, const std::vector<std::string>& names,
                                   absl::flat_hash_map<std::string, void*>* addresses) {
  if (llvm::Error error = jit_.addObjectFile(library_, std::move(object))) return ToStatus(std::move(error));
  llvm::orc::SymbolLookupSet wanted;
  for (const std::string& name : names) wanted.add(jit_.mangleAndIntern(name));
  llvm::Expected<llvm::orc::SymbolMap> found =
      jit_.getExecutionSession().lookup(llvm::orc::makeJITDylibSearchOrder(&library_), std::move(wanted));
  if (!found) return ToStatus(found.takeError());
  for (const std::string& name : names) {
    (*addresses)[name] = found->lookup(jit_.mangleAndIntern(name)).getAddress().toPtr<void*>();
  }
  return absl::OkStatus();
}

JitCode::JitCode(std::unique_ptr<Library> library) : library_(std::move(library)) {}
JitCode::~JitCode() = default;

absl::StatusOr<void*> JitCode::FindAddress(absl::string_view name) const {
  const auto found = addresses_.find(name);
  if (found == addresses_.end()) return Internal("no function %s was compiled", name);
  return found->second;
}

JitCompiler::JitCompiler(std::string name, const Target& target, JitOptions options, StopFunction check_stopped,
                         codegen::CodeModule module)
    : name_(std::move(name)),
      target_(target),
      options_(std::move(options)),
      check_stopped_(check_stopped),
      module_(std::make_unique<codegen::CodeModule>(std::move(module))) {}
JitCompiler::JitCompiler(JitCompiler&&) noexcept = default;
JitCompiler::~JitCompiler() = default;

absl::StatusOr<JitCompiler> JitCompiler::Create(std::string name, const Target& target, JitOptions options,
                                                StopFunction check_stopped) {
  KASHI_ASSIGN_OR_RETURN(const Linker* const linker, Linker::Get());
  codegen::CodeModule module(name, linker->CodeTargetOf(target));
  return JitCompiler(std::move(name), target, std::move(options), check_stopped, std::move(module));
}

absl::Status JitCompiler::CompileModule() {
  if (code_ == nullptr) {
    KASHI_ASSIGN_OR_RETURN(const Linker* const linker, Linker::Get());
    KASHI_ASSIGN_OR_RETURN(machine_, linker->MakeMachine(target_));
    KASHI_ASSIGN_OR_RETURN(std::unique_ptr<JitCode::Library> library, JitCode::Library::Create(options_.functions));
    code_.reset(new JitCode(std::move(library)));
  }
  std::vector<std::string> names;
  for (const llvm::Function& function : module_->module()) {
    if (!function.isDeclaration() && !function.hasLocalLinkage()) names.push_back(function.getName().str());
  }
  if (options_.keep_text) absl::StrAppend(&code_->ir_, module_->ToString());
  const bool has_key = options_.keep_objects || !options_.known.empty() || options_.cache != nullptr;
  const base::Fingerprint key = has_key ? KeyOfModule() : base::Fingerprint();
  // The text of assembly is made of the module, so that is compiled.
  std::optional<std::string> object = options_.keep_text ? std::nullopt : FindKnown(key);
  code_->object_use_.is_cached = options_.cache != nullptr;
  ++code_->object_use_.objects;
  if (object.has_value()) {
    ++code_->object_use_.known;
  } else {
    KASHI_ASSIGN_OR_RETURN(object, CompileObject());
    if (options_.cache != nullptr) code_->object_use_.kept.Update(options_.cache->Keep({key, *object}));
  }
  KASHI_RETURN_IF_ERROR(check_stopped_());
  KASHI_RETURN_IF_ERROR(code_->library_->Add(llvm::MemoryBuffer::getMemBufferCopy(*object), names, &code_->addresses_));
  if (options_.keep_objects) code_->objects_.push_back({key, *std::move(object)});
  return check_stopped_();
}

base::Fingerprint JitCompiler::KeyOfModule() const {
  base::FingerprintBuilder builder;
  builder.Append(absl::StrCat(LLVM_VERSION_STRING, "\n", target_.processor(), "\n", target_.features(), "\n",
                              target_.vector_bits(), "\n"));
  // Bitcode takes a fifth of the time that text takes, which would be most of the time that a known program takes.
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module_->module(), stream);
  builder.Append(absl::string_view(bitcode.data(), bitcode.size()));
  return builder.Finish();
}

std::optional<std::string> JitCompiler::FindKnown(const base::Fingerprint& key) const {
  const auto found =
      absl::c_find_if(options_.known, [&](const engine::CompiledObject& object) { return object.key == key; });
  if (found != options_.known.end()) return found->code;
  return options_.cache == nullptr ? std::nullopt : options_.cache->Find(key);
}

absl::StatusOr<std::string> JitCompiler::CompileObject() {
  AllowWidestVectors(module_->module(), target_);
  KASHI_RETURN_IF_ERROR(Optimise(module_->module(), *machine_, check_stopped_));
  if (options_.keep_text) {
    KASHI_ASSIGN_OR_RETURN(const std::string assembly, AssemblyOf(module_->module(), *machine_));
    absl::StrAppend(&code_->assembly_, assembly);
  }
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> object = llvm::orc::SimpleCompiler(*machine_)(module_->module());
  if (!object) return ToStatus(object.takeError());
  return (*object)->getBuffer().str();
}

absl::Status JitCompiler::CompileIfLarge() {
  if (module_->module().getInstructionCount() < kInstructionsOfModule) return check_stopped_();
  KASHI_RETURN_IF_ERROR(CompileModule());
  *module_ = codegen::CodeModule(name_, module_->target());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<JitCode>> JitCompiler::Finish() && {
  KASHI_RETURN_IF_ERROR(CompileModule());
  return std::move(code_);
}

}  // namespace kashi::cpu
