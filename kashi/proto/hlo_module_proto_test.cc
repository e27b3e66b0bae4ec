#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/proto/hlo.pb.h"

namespace kashi::proto {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<HloModule> Parse(const std::string& text) {
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << text << module.status();
  return module.ok() ? *std::move(module) : std::make_unique<HloModule>("failed", HloModuleConfig());
}

absl::StatusOr<std::unique_ptr<HloModule>> Read(const HloModuleProto& proto, bool prohibit_empty_literal = true) {
  const absl::StatusOr<HloModuleConfig> config = HloModule::CreateModuleConfigFromProto(proto);
  if (!config.ok()) return config.status();
  return HloModule::CreateFromProto(proto, *config, prohibit_empty_literal);
}

// The bytes without the module's number, which depends on the process.
std::string Hex(HloModuleProto proto) {
  proto.clear_id();
  for (auto& entry : *proto.mutable_original_value_recovery_table()->mutable_entries()) {
    if (entry.has_recovery_module()) entry.mutable_recovery_module()->clear_id();
  }
  if (proto.original_value_recovery_table().entries().empty()) proto.clear_original_value_recovery_table();
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream output(&bytes);
    google::protobuf::io::CodedOutputStream stream(&output);
    stream.SetSerializationDeterministic(true);
    proto.SerializeToCodedStream(&stream);
  }
  return absl::BytesToHexString(bytes);
}

// ---- Against real XLA -----------------------------------------------------------------------------------------------

struct Row {
  std::string name;
  std::string text;
  std::string hex;
  std::string printed;
};

std::string Unescape(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\\\", "\\"}, {"\\n", "\n"}, {"\\t", "\t"}});
}

HloModuleProto ProtoOf(const Row& row) {
  HloModuleProto proto;
  EXPECT_TRUE(proto.ParseFromString(absl::HexStringToBytes(row.hex)));
  return proto;
}

// make_hlo_protos.py explains the columns.
std::vector<Row> ReadRows() {
  std::ifstream file(KASHI_TEST_DATA "/hlo_protos.tsv");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    rows.push_back({fields[0], Unescape(fields[1]), fields[2], Unescape(fields[3])});
  }
  return rows;
}

TEST(HloModuleProtoTest, TextBecomesRealXlasBytes) {
  const std::vector<Row> rows = ReadRows();
  ASSERT_GT(rows.size(), 100);
  for (const Row& row : rows) {
    EXPECT_EQ(Hex(Parse(row.text)->ToProto()), Hex(ProtoOf(row))) << row.name << "\n" << row.text;
  }
}

TEST(HloModuleProtoTest, RealXlasBytesPrintAsThere) {
  for (const Row& row : ReadRows()) {
    const absl::StatusOr<std::unique_ptr<HloModule>> module = Read(ProtoOf(row));
    ASSERT_TRUE(module.ok()) << row.name << ": " << module.status();
    EXPECT_EQ((*module)->ToString(), row.printed) << row.name;
    EXPECT_EQ(Hex((*module)->ToProto()), Hex(ProtoOf(row))) << row.name;
    EXPECT_TRUE((*module)->CheckUniqueNamesAndIdsForComputationsAndInstructions().ok());
  }
}

// ---- Contents that come back ----------------------------------------------------------------------------------------

constexpr char kTwoComputations[] = R"(HloModule m, is_scheduled=true

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  p = f32[4] parameter(0), metadata={op_name="x"}
  zero = f32[] constant(0)
  ROOT r = f32[] reduce(p, zero), dimensions={0}, to_apply=add
}
)";

TEST(HloModuleProtoTest, FieldsThatAModuleHasNoPlaceForComeBack) {
  HloModuleProto proto = Parse(kTwoComputations)->ToProto();
  ASSERT_TRUE(google::protobuf::TextFormat::MergeFromString(
      R"(id: 7 pjrt_id: 4 is_dynamic: true use_auto_spmd_partitioning: true device_type: "tpu"
         cross_program_prefetches { parameter: 0 index: 1 offset: 3 }
         spmd_output_sharding { type: MANUAL } spmd_parameters_shardings { type: MAXIMAL }
         profile_info { profile_type: FUSION relative_speedup: 2 fingerprint: "f" }
         device_assignment { replica_count: 1 computation_count: 1 computation_devices { replica_device_ids: 3 } }
         stack_frame_index { file_names: "f" function_names: "g" file_locations { file_name_id: 1 line: 2 }
                             stack_frames { file_location_id: 1 } }
         frontend_attributes { map { key: "k" value: "v" } })",
      &proto));
  proto.GetReflection()->MutableUnknownFields(&proto)->AddVarint(1000, 5);
  const absl::StatusOr<std::unique_ptr<HloModule>> module = Read(proto);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE((*module)->is_dynamic());
  EXPECT_EQ((*module)->unique_id(), 7);
  EXPECT_EQ((*module)->config().device_type(), "tpu");
  EXPECT_EQ((*module)->stack_frame_index().file_locations[0].line, 2);
  EXPECT_EQ(Hex((*module)->ToProto()), Hex(proto));
  EXPECT_EQ((*module)->ToProto().DebugString(), proto.DebugString());
}

TEST(HloModuleProtoTest, IdsMayBeAnyInAnyOrderOfComputations) {
  HloModuleProto proto = Parse(kTwoComputations)->ToProto();
  proto.clear_schedule();
  const std::string expected = (*Read(proto))->ToString();
  proto.mutable_computations()->SwapElements(0, 1);  // the caller first
  for (HloComputationProto& computation : *proto.mutable_computations()) {
    const auto renumber = [](int64_t id) { return (id + 3) * 1000003; };
    computation.set_root_id(renumber(computation.root_id()));
    for (HloInstructionProto& instruction : *computation.mutable_instructions()) {
      instruction.set_id(renumber(instruction.id()));
      for (int64_t& id : *instruction.mutable_operand_ids()) id = renumber(id);
    }
  }
  const absl::StatusOr<std::unique_ptr<HloModule>> module = Read(proto);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->ToString(), expected);
  EXPECT_EQ((*module)->entry_computation()->root_instruction()->unique_id(), proto.computations(0).root_id());
}

TEST(HloModuleProtoTest, InstructionsShareWhatTheyHaveInCommon) {
  const auto module = *Read(Parse(kTwoComputations)->ToProto());
  const HloInstruction* a = module->computations()[0]->parameter_instruction(0);
  const HloInstruction* b = module->computations()[0]->parameter_instruction(1);
  EXPECT_TRUE(a->shared_shape().SameAs(b->shared_shape()));
}

// ---- Older protos ---------------------------------------------------------------------------------------------------

// Reads kTwoComputations after a change to its last instruction (the reduce), and returns how that prints.
template <typename Change>
std::string PrintChanged(const std::string& text, Change change, bool prohibit_empty_literal = true) {
  HloModuleProto proto = Parse(text)->ToProto();
  HloComputationProto* entry = proto.mutable_computations(proto.computations_size() - 1);
  change(&proto, entry->mutable_instructions(entry->instructions_size() - 1));
  const absl::StatusOr<std::unique_ptr<HloModule>> module = Read(proto, prohibit_empty_literal);
  if (!module.ok()) return module.status().ToString();
  HloPrintOptions options;
  options.set_print_percent(false);
  return (*module)->entry_computation()->root_instruction()->ToString(options);
}

std::string Module(const std::string& root) {
  return absl::StrCat(
      "HloModule m\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT sum = f32[] add(a, b) }\n",
      "ENTRY main { p = f32[4] parameter(0)\n ROOT r = ", root, " }\n");
}

TEST(HloModuleProtoTest, OldFormsOfFields) {
  const std::string all_reduce = Module("f32[4] all-reduce(p), replica_groups={}, to_apply=add");
  EXPECT_EQ(PrintChanged(all_reduce,
                         [](auto*, HloInstructionProto* r) {
                           r->clear_collective_device_list();
                           r->add_replica_groups()->add_replica_ids(1);
                           r->set_all_reduce_id(7);
                         }),
            "r = f32[4]{0} all-reduce(p), channel_id=7, replica_groups={{1}}, to_apply=add");
  EXPECT_EQ(PrintChanged(Module("(f32[4], f32[4], u32[]) copy-start(p)"),
                         [](auto*, HloInstructionProto* r) { r->set_is_cross_program_prefetch(true); }),
            "r = (f32[4]{0}, f32[4]{0}, u32[]) copy-start(p), cross_program_prefetch_index=0");
  EXPECT_EQ(PrintChanged(Module("f32[4] custom-call(p), custom_call_target=\"t\""),
                         [](auto*, HloInstructionProto* r) {
                           r->clear_custom_call_api_version();
                           r->clear_feature_group_count();
                           r->clear_precision_config();
                         }),
            "r = f32[4]{0} custom-call(p), custom_call_target=\"t\", api_version=API_VERSION_UNSPECIFIED");
  EXPECT_EQ(PrintChanged(Module("(f32[2], s32[2]) topk(p), k=2, largest=true"),
                         [](auto*, HloInstructionProto* r) { r->clear_largest(); }),
            "r = (f32[2]{0}, s32[2]{0}) topk(p), k=2, largest=false");
  EXPECT_EQ(PrintChanged(Module("pred[4] compare(p, p), direction=LT"),
                         [](auto*, HloInstructionProto* r) {
                           r->clear_comparison_type();
                           r->set_comparison_order("TOTAL");
                         }),
            "r = pred[4]{0} compare(p, p), direction=LT, type=TOTALORDER");
  // Newer XLA says whether topk is stable; older protos do not have the field.
  EXPECT_EQ(PrintChanged(Module("(f32[2], s32[2]) topk(p), k=2, largest=true, is_stable=true"),
                         [](auto*, HloInstructionProto* r) { EXPECT_TRUE(r->is_stable()); }),
            "r = (f32[2]{0}, s32[2]{0}) topk(p), k=2, largest=true, is_stable=true");
}

TEST(HloModuleProtoTest, OperationsOfNewerXla) {
  const std::string shuffle = Module("f32[4] shuffle(p), dimensions={0}, mode=rotate, shifts={-3}");
  EXPECT_EQ(PrintChanged(shuffle, [](auto*, HloInstructionProto* r) { r->set_opcode("shuffle"); }),
            "r = f32[4]{0} shuffle(p), dimensions={0}, mode=rotate, shifts={-3}");
  EXPECT_THAT(PrintChanged(shuffle, [](auto*, HloInstructionProto* r) { r->clear_shuffle_mode(); }),
              HasSubstr("A shuffle must specify a mode."));
  const std::string reduce = Module("f32[4] collective-reduce(p), replica_groups={{0}}, to_apply=add");
  EXPECT_EQ(PrintChanged(reduce, [](auto*, HloInstructionProto* r) { EXPECT_FALSE(r->has_dynamic_root()); }),
            "r = f32[4]{0} collective-reduce(p), replica_groups={{0}}, has_dynamic_root=false, to_apply=add");
  EXPECT_EQ(PrintChanged(reduce, [](auto*, HloInstructionProto* r) { r->set_has_dynamic_root(true); }),
            "r = f32[4]{0} collective-reduce(p), replica_groups={{0}}, has_dynamic_root=true, to_apply=add");
  EXPECT_EQ(PrintChanged(Module("f32[4] collective-broadcast(p), replica_groups={{0}}"),
                         [](auto*, HloInstructionProto* r) { r->set_has_dynamic_root(true); }),
            "r = f32[4]{0} collective-broadcast(p), replica_groups={{0}}, has_dynamic_root=true");
}

TEST(HloModuleProtoTest, PayloadsStandWhereTheyAreNamed) {
  EXPECT_EQ(PrintChanged(Module("f32[4] negate(p), metadata={op_name=\"q\"}"),
                         [](HloModuleProto* m, HloInstructionProto* r) {
                           m->add_payloads("xyz");
                           r->mutable_backend_config_payload()->set_id(0);
                           r->mutable_metadata()->mutable_metadata_payload()->set_value("abc");
                         }),
            "r = f32[4]{0} negate(p), metadata={op_name=\"q\" metadata_payload=\"abc\"}, backend_config=\"xyz\"");
  EXPECT_THAT(PrintChanged(Module("f32[4] negate(p)"),
                           [](auto*, HloInstructionProto* r) { r->mutable_backend_config_payload()->set_id(5); }),
              HasSubstr("instruction r (negate): payload 5 is out of range [0, 0)"));
}

TEST(HloModuleProtoTest, ConstantsWithoutValues) {
  const std::string constant = "HloModule m\nENTRY main { ROOT r = f32[2] constant({1, 2}) }\n";
  const auto clear_values = [](auto*, HloInstructionProto* r) { r->mutable_literal()->clear_f32s(); };
  const auto clear_literal = [](auto*, HloInstructionProto* r) { r->clear_literal(); };
  EXPECT_THAT(PrintChanged(constant, clear_values), HasSubstr("0 bytes of values"));
  EXPECT_EQ(PrintChanged(constant, clear_values, /*prohibit_empty_literal=*/false), "r = f32[2]{0} constant({0, 0})");
  EXPECT_EQ(PrintChanged(constant, clear_literal), "r = f32[2]{0} constant({...})");
  const auto claim = [](auto*, HloInstructionProto* r) {
    r->clear_literal();
    r->mutable_shape()->set_dimensions(0, int64_t{1} << 40);
  };
  EXPECT_THAT(PrintChanged(constant, claim), HasSubstr("RESOURCE_EXHAUSTED"));
}

// ---- Protos that are refused ----------------------------------------------------------------------------------------

template <typename Change>
void ExpectRefused(const std::string& text, const std::string& part, Change change) {
  EXPECT_THAT(PrintChanged(text, change), HasSubstr(part));
}

TEST(HloModuleProtoTest, RefusesBrokenInstructions) {
  const std::string negate = Module("f32[4] negate(p)");
  using Instruction = HloInstructionProto;
  ExpectRefused(negate, "computation main: instruction r (nope): unknown opcode",
                [](auto*, Instruction* r) { r->set_opcode("nope"); });
  ExpectRefused(negate, "no name", [](auto*, Instruction* r) { r->clear_name(); });
  ExpectRefused(negate, "another instruction also has the name p", [](auto*, Instruction* r) { r->set_name("p"); });
  ExpectRefused(negate, "negative id -5", [](auto*, Instruction* r) { r->set_id(-5); });
  ExpectRefused(negate, "another instruction also has id", [](auto*, Instruction* r) { r->set_id(r->operand_ids(0)); });
  ExpectRefused(negate, "operand 99 does not exist, or comes later",
                [](auto*, Instruction* r) { r->set_operand_ids(0, 99); });
  ExpectRefused(negate, "operand 0 is in another computation", [](auto*, Instruction* r) { r->set_operand_ids(0, 0); });
  ExpectRefused(negate, "does not exist, or comes later",
                [](auto*, Instruction* r) { r->set_operand_ids(0, r->id()); });
  ExpectRefused(negate, "0 operands instead of 1", [](auto*, Instruction* r) { r->clear_operand_ids(); });
  ExpectRefused(negate, "control predecessor", [](auto*, Instruction* r) { r->add_control_predecessor_ids(99); });
  ExpectRefused(negate, "is its own control predecessor",
                [](auto*, Instruction* r) { r->add_control_predecessor_ids(r->id()); });
  ExpectRefused(negate, "payload",
                [](auto*, Instruction* r) { r->mutable_metadata()->mutable_metadata_payload()->set_id(-1); });
  ExpectRefused(negate, "only a parameter", [](auto*, Instruction* r) { r->mutable_parameter_replication(); });
  ExpectRefused(negate, "original_value is not a tree",
                [](auto*, Instruction* r) { r->mutable_original_value()->add_elements()->add_shape_index(1 << 20); });
  ExpectRefused(negate, "7 is not a value of OpSharding::Type",
                [](auto*, Instruction* r) { r->mutable_sharding()->set_type(static_cast<wire::OpSharding::Type>(7)); });
  ExpectRefused(negate, "called computation 99 does not exist",
                [](auto*, Instruction* r) { r->add_called_computation_ids(99); });
  ExpectRefused(negate, "calls itself",
                [](HloModuleProto* m, Instruction* r) { r->add_called_computation_ids(m->entry_computation_id()); });
}

TEST(HloModuleProtoTest, RefusesBrokenFields) {
  using Instruction = HloInstructionProto;
  ExpectRefused(Module("pred[4] compare(p, p), direction=LT"), "",
                [](auto*, Instruction* r) { r->set_comparison_direction("XX"); });
  ExpectRefused(Module("c64[3] fft(p), fft_type=RFFT, fft_length={4}"), "9 is not a value of FftType",
                [](auto*, Instruction* r) { r->set_fft_type(static_cast<wire::FftType>(9)); });
  ExpectRefused(Module("f32[4] all-reduce(p), replica_groups={}, to_apply=add"), "0 called computations instead of 1",
                [](auto*, Instruction* r) { r->clear_called_computation_ids(); });
  ExpectRefused(Module("f32[4] reshape(p)"), "one inferred dimension",
                [](auto*, Instruction* r) { r->mutable_dimensions()->Resize(2, 0); });
  ExpectRefused(Module("f32[4] negate(p)"), "neither async-start nor async-update",
                [](auto*, Instruction* r) { r->set_opcode("async-done"); });
  ExpectRefused(Module("f32[4] negate(p)"), "a conditional with 1 operands",
                [](auto*, Instruction* r) { r->set_opcode("conditional"); });
  ExpectRefused(Module("f32[4] negate(p)"), "a domain needs two shardings",
                [](auto*, Instruction* r) { r->set_opcode("domain"); });
}

template <typename Change>
void ExpectModuleRefused(const std::string& part, Change change) {
  HloModuleProto proto = Parse(kTwoComputations)->ToProto();
  change(&proto);
  EXPECT_THAT(Read(proto).status().ToString(), HasSubstr(part));
}

TEST(HloModuleProtoTest, RefusesBrokenModules) {
  using Module = HloModuleProto;
  ExpectModuleRefused("No program shape found in the proto", [](Module* m) { m->clear_host_program_shape(); });
  ExpectModuleRefused("there is no entry computation", [](Module* m) {
    m->set_entry_computation_id(77);
    m->set_entry_computation_name("x");
  });
  ExpectModuleRefused("root 9 does not exist", [](Module* m) { m->mutable_computations(1)->set_root_id(9); });
  ExpectModuleRefused("two computations have id", [](Module* m) { m->mutable_computations(0)->set_id(1); });
  ExpectModuleRefused("two computations have the name",
                      [](Module* m) { m->mutable_computations(0)->set_name("main"); });
  ExpectModuleRefused("has id -1", [](Module* m) { m->mutable_computations(0)->set_id(-1); });
  ExpectModuleRefused("two parameters 0",
                      [](Module* m) { m->mutable_computations(0)->mutable_instructions(1)->set_parameter_number(0); });
  ExpectModuleRefused("has a parameter 5, but no parameter 1",
                      [](Module* m) { m->mutable_computations(0)->mutable_instructions(1)->set_parameter_number(5); });
  ExpectModuleRefused("schedule: computation 50 does not exist",
                      [](Module* m) { (*m->mutable_schedule()->mutable_sequences())[50]; });
  ExpectModuleRefused("schedule of computation main: instruction 0 is in another computation",
                      [](Module* m) { (*m->mutable_schedule()->mutable_sequences())[1].set_instruction_ids(0, 0); });
  ExpectModuleRefused("INTERNAL", [](Module* m) {
    (*m->mutable_schedule()->mutable_sequences())[1].mutable_instruction_ids()->RemoveLast();
  });
  ExpectModuleRefused("invalid index",
                      [](Module* m) { m->mutable_input_output_alias()->add_entries()->add_output_shape_index(3); });
  Module nested = Parse(kTwoComputations)->ToProto();
  for (int i = 0; i < 20; ++i) {
    Module outer = Parse(kTwoComputations)->ToProto();
    *outer.mutable_original_value_recovery_table()->add_entries()->mutable_recovery_module() = std::move(nested);
    nested = std::move(outer);
  }
  EXPECT_THAT(Read(nested).status().ToString(), HasSubstr("nested too deep"));
}

}  // namespace
}  // namespace kashi::proto
