#!/usr/bin/env python3
"""`kashi run` and `kashi diff` on files that golden tests cannot hold: .npy files, snapshots, folders of devices,
Ctrl-C.

    tests/run_test.py --kashi build/kashi [unittest's arguments]
"""
import json
import os
import signal
import struct
import subprocess
import time
import unittest.mock

import kashi_testing
from kashi_testing import TIMEOUT_S, FolderTest, npy


def f32(*values, sizes=None):
    return npy("<f4", sizes or [len(values)], struct.pack(f"<{len(values)}f", *values))


def elements(path, form):
    """The elements of an .npy file."""
    content = path.read_bytes()
    data = content[10 + struct.unpack("<H", content[8:10])[0] :]
    return list(struct.unpack(f"<{len(data) // struct.calcsize(form)}{form}", data))


class RunTest(FolderTest):
    def write(self, **files):
        for name, content in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def kashi(self, *arguments, status=0):
        out, err = self.run_command(*arguments, status=status)
        return (out if status == 0 else out + err).decode()

    def test_inputs_in_the_order_of_parameters_and_outputs_in_flattened_order(self):
        self.write(m_hlo="""
            ENTRY e {
              a = (f32[2], token[], (f32[2])) parameter(0)
              x = f32[2] get-tuple-element(a), index=0
              n = (f32[2]) get-tuple-element(a), index=2
              y = f32[2] get-tuple-element(n), index=0
              b = f32[2] parameter(1)
              s = f32[2] subtract(x, y)
              t = (f32[2]) tuple(s)
              ROOT r = ((f32[2]), f32[2]) tuple(t, b)
            }""", x_npy=f32(5, 6), y_npy=f32(1, 3), b_npy=f32(7, 8))
        self.kashi("run", "m.hlo", "--input", "x.npy", "--input", "y.npy", "--input", "b.npy", "--output-dir", "o/p")
        self.assertEqual(elements(self.folder / "o/p/out0.npy", "f"), [4, 3])
        self.assertEqual(elements(self.folder / "o/p/out1.npy", "f"), [7, 8])

    def test_every_program_of_a_stablehlo_file_has_a_line_of_json(self):
        function = """
            func.func @%s() -> tensor<2xi32> {
              %%0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
              check.expect_eq_const %%0, dense<[1, %d]> : tensor<2xi32>
              func.return %%0 : tensor<2xi32>
            }
            """
        self.write(m_mlir=function % ("f", 2) + function % ("g", 3) + "\n// -----\n" + function % ("f", 2))
        text = self.kashi("run", "m.mlir", "--split-input-file", "--all-functions", "--json", status=1)
        answers = [json.loads(line) for line in text.splitlines()]
        self.assertEqual([answer.get("part") for answer in answers], ["line 1: @f", None, "line 15: @f"])
        self.assertIn("line 1: @g: custom-call: check.expect_eq", answers[1]["error"])
        self.assertEqual(answers[2]["outputs"][0]["value"], "{1, 2}")

    def has_compiled_engine(self):
        return "cpu" in json.loads(self.kashi("version", "--json"))["features"]

    def needs_compiled_engine(self):
        if not self.has_compiled_engine():
            self.skipTest("this kashi was built without the compiled engine")

    def test_compiled_engine_agrees_with_the_evaluator_and_writes_its_stages(self):
        self.needs_compiled_engine()
        self.write(m_hlo="""
            add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
            ENTRY e {
              x = f32[50,70] parameter(0)
              e = f32[50,70] exponential(x)
              z = f32[] constant(0)
              s = f32[50] reduce(e, z), dimensions={1}, to_apply=add
              b = f32[50,70] broadcast(s), dimensions={0}
              ROOT r = f32[50,70] divide(e, b)
            }""")
        self.kashi("run", "m.hlo", "--engine", "evaluator", "--output-dir", "want")
        out = self.kashi("run", "m.hlo", "--engine", "cpu", "--expect", "want/out0.npy", "--dump-dir", "stages")
        self.assertIn("as expected: 0 of 3,500", out)
        names = sorted(path.name for path in (self.folder / "stages").iterdir())
        self.assertEqual(names[0], "01-inline-calls.hlo")
        self.assertEqual(names[-5:], ["fused.hlo", "kernels.ll", "kernels.s", "program.buffers", "program.thunks"])
        self.assertIn("kernel0", (self.folder / "stages/kernels.ll").read_text())
        answer = json.loads(self.kashi("run", "m.hlo", "--engine", "cpu", "--repeat", "3", "--json"))
        self.assertEqual(answer["engine"], "cpu")
        self.assertGreater(answer["compile_ms"], 0)

    def test_memory_of_the_compiled_program(self):
        self.needs_compiled_engine()
        self.write(m_hlo="""
            less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
            ENTRY e {
              x = f32[20,30] parameter(0)
              t = f32[30,20] transpose(x), dimensions={1,0}
              s = f32[30,20] sort(t), dimensions={0}, to_apply=less
              r = f32[30,20] reverse(s), dimensions={0}
              ROOT a = (f32[30,20], f32[20,30]) tuple(r, x)
            }""",
                   open_hlo="ENTRY e { x = f32[<=5] parameter(0) ROOT r = f32[<=5] negate(x) }")
        text = self.kashi("memory", "--engine", "cpu", "m.hlo")
        self.assertIn("2.34 KiB of arguments", text)
        answer = json.loads(self.kashi("memory", "--engine", "cpu", "--json", "m.hlo"))
        self.assertEqual((answer["argument_bytes"], answer["output_bytes"]), (2400, 2400))  # the other result is x
        self.assertEqual(answer["peak_bytes"], sum(answer[f"{kind}_bytes"]
                                                   for kind in ("argument", "output", "constant", "temp")))
        self.assertEqual(answer["results"], ["result 0", "argument 0"])
        between = {row["value"]: row for row in answer["buffers"] if row["home"] == "arena"}
        self.assertLessEqual(set(between), {"t.fusion", "s"})
        error = self.kashi("memory", "--engine", "cpu", "open.hlo", status=1)
        self.assertIn("only known at run time", error)
        self.kashi("memory", "--engine", "cpu", "--html", "x.html", "m.hlo", status=2)
        self.kashi("memory", "--engine", "cpu", "m.hlo", "m.hlo", status=2)
        self.kashi("memory", "--engine", "cpu", "--space", "1", "m.hlo", status=2)

    def test_compiled_engine_keeps_or_flushes_denormal_numbers(self):
        self.needs_compiled_engine()
        self.write(m_hlo="""
            ENTRY e {
              x = f32[2] parameter(0)
              y = f32[2] multiply(x, x)
              ROOT r = f32[2] add(y, y)
            }""", x_npy=f32(1e-20, 1))
        run = ["run", "m.hlo", "--input", "x.npy", "--engine", "cpu"]
        self.assertIn("{0, 2}", self.kashi(*run))
        self.assertNotIn("{0, 2}", self.kashi(*run, "--denormals", "keep"))

    def test_check_names_the_first_step_that_differs(self):
        self.needs_compiled_engine()
        self.write(m_hlo="""
            ENTRY e {
              x = f32[3] parameter(0)
              y = f32[3] multiply(x, x)
              r = f32[3] add(y, y), metadata={op_name="jit(f)/add" source_file="f.py" source_line=3}
              ROOT t = (f32[3], f32[3]) tuple(x, r)
            }""", x_npy=f32(2, 1e-20, 1))
        run = ["run", "m.hlo", "--input", "x.npy", "--check"]
        self.assertIn("1 compiled step agrees with the evaluator\n", self.kashi(*run))
        self.assertEqual(json.loads(self.kashi(*run, "--json", "--repeat", "3"))["compared_steps"], 3)
        # The evaluator keeps the denormal number.
        wrong = self.kashi(*run, "--tolerance", "0", status=1)
        self.assertRegex(wrong, r"^\S+ in e computes something else than the evaluator from the same operands: "
                                r"1 of 3 elements differ; .* first at \[1\]\n")
        self.assertIn("\n  operand x  f32[3]\n", wrong)
        self.assertRegex(wrong, r"\n  result  f32\[3\], element \[1\]: evaluator [12][\d.]*e-40, cpu 0\n")
        step = json.loads(self.kashi(*run, "--tolerance", "0", "--json", status=1))["wrong_step"]
        self.assertEqual((step["index"], step["cpu"], step["operands"]), ("[1]", "0", [{"name": "x", "shape": "f32[3]"}]))
        self.assertIn("--engine cpu", self.kashi(*run, "--engine", "evaluator", status=2))
        self.assertIn("--engine evaluator", self.kashi(*run, "--check-nan", status=2))

    def test_guard_pages_change_no_number(self):
        self.write(m_hlo="ENTRY e { x = f32[33] parameter(0) y = f32[33] tanh(x) ROOT r = f32[33] multiply(y, y) }")
        for engine in ("evaluator", "auto"):
            plain = self.kashi("run", "m.hlo", "--engine", engine)
            for pages in ("behind", "before", ""):
                with unittest.mock.patch.dict(os.environ, KASHI_GUARD_PAGES=pages):
                    self.assertEqual(self.kashi("run", "m.hlo", "--engine", engine), plain)
        with unittest.mock.patch.dict(os.environ, KASHI_GUARD_PAGES="after"):
            self.assertIn("KASHI_GUARD_PAGES is `after`", self.kashi("run", "m.hlo", status=2))

    def test_options_of_one_engine_alone(self):
        self.write(m_hlo="ENTRY e { ROOT x = f32[2] parameter(0) }")
        evaluator = ["--engine", "evaluator"]
        for options in (["--engine", "cpu", "--check-nan"], ["--denormals", "keep", "--until", "x"],
                        [*evaluator, "--denormals", "flush"], [*evaluator, "--dump-dir", "d"], [*evaluator, "--check"],
                        [*evaluator, "--target", "x86-64-v2"]):
            self.assertIn("--engine", self.kashi("run", "m.hlo", *options, status=2))

    def engine_of(self, *arguments):
        return json.loads(self.kashi("run", "m.hlo", "--json", *arguments))["engine"]

    def test_the_engine_is_the_compiled_one_where_that_is_worth_it(self):
        self.needs_compiled_engine()
        self.write(m_hlo="ENTRY e { x = f32[3000,3000] iota(), iota_dimension=0 ROOT y = f32[3000,3000] tanh(x) }")
        self.assertEqual(self.engine_of(), "cpu")
        self.assertEqual(self.engine_of("--engine", "evaluator"), "evaluator")
        self.assertEqual(self.engine_of("--check-nan"), "evaluator")
        self.assertEqual(self.engine_of("--until", "x"), "evaluator")
        self.write(m_hlo="ENTRY e { x = f32[10] parameter(0) ROOT y = f32[10] tanh(x) }")
        self.assertEqual(self.engine_of(), "evaluator")
        self.assertEqual(self.engine_of("--engine", "cpu"), "cpu")
        self.assertEqual(self.engine_of("--repeat", "100000", "--timeout", "1"), "cpu")
        for options in (["--denormals", "flush"], ["--dump-dir", "stages"], ["--check"],
                        ["--target", "x86-64-v2"]):
            self.assertEqual(self.engine_of(*options), "cpu")
        self.assertEqual(self.engine_of("--excess-precision", "off"), "evaluator")

    def test_both_engines_keep_excess_precision(self):
        self.write(m_hlo="""
            ENTRY e {
              x = bf16[] constant(256)
              y = bf16[] constant(1)
              s = bf16[] add(x, y)
              ROOT w = f32[] convert(s)
            }""")
        engines = [[], ["--engine", "evaluator"], ["--check-nan"]]
        if self.has_compiled_engine():
            engines.append(["--engine", "cpu"])
        for engine in engines:
            for precision, number in (([], 257), (["on"], 257), (["off"], 256)):
                option = ["--excess-precision", *precision] if precision else []
                self.assertIn(f"  {number}\n", self.kashi("run", "m.hlo", *engine, *option))

    def test_a_long_loop_is_compiled_and_a_global_program_evaluated(self):
        self.needs_compiled_engine()
        loop = """
            b {
              s = (s32[]) parameter(0)
              i = s32[] get-tuple-element(s), index=0
              one = s32[] constant(1)
              n = s32[] add(i, one)
              ROOT r = (s32[]) tuple(n)
            }
            c {
              s = (s32[]) parameter(0)
              i = s32[] get-tuple-element(s), index=0
              end = s32[] constant(COUNT)
              ROOT l = pred[] compare(i, end), direction=LT
            }
            ENTRY e { z = s32[] constant(0) s = (s32[]) tuple(z) ROOT w = (s32[]) while(s), condition=c, body=b }"""
        self.write(m_hlo=loop.replace("COUNT", "100000"))
        self.assertEqual(self.engine_of(), "cpu")
        self.write(m_hlo=loop.replace("COUNT", "10"))
        self.assertEqual(self.engine_of(), "evaluator")
        self.write(m_hlo="""
            HloModule m, num_partitions=2
            ENTRY e {
              x = f32[3000,3000] iota(), iota_dimension=0, sharding={devices=[2,1]<=[2]}
              ROOT y = f32[3000,3000] tanh(x), sharding={devices=[2,1]<=[2]}
            }""")
        self.assertEqual(self.engine_of(), "cpu")  # as the one program that it is
        self.kashi("run", "m.hlo", "--denormals", "keep")

    def write_profiled(self):
        self.write(m_hlo="""
            add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
            body {
              s = (s32[], f32[300,300]) parameter(0)
              i = s32[] get-tuple-element(s), index=0
              x = f32[300,300] get-tuple-element(s), index=1
              one = s32[] constant(1)
              n = s32[] add(i, one)
              d = f32[300,300] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/dot" source_file="f.py" source_line=3}
              t = f32[300,300] tanh(d)
              y = f32[300,300] multiply(t, x)
              ROOT r = (s32[], f32[300,300]) tuple(n, y)
            }
            condition {
              s = (s32[], f32[300,300]) parameter(0)
              i = s32[] get-tuple-element(s), index=0
              five = s32[] constant(5)
              ROOT l = pred[] compare(i, five), direction=LT
            }
            ENTRY e {
              x = f32[300,300] parameter(0)
              zero = s32[] constant(0)
              s = (s32[], f32[300,300]) tuple(zero, x)
              ROOT w = (s32[], f32[300,300]) while(s), condition=condition, body=body
            }""")

    def check_profile(self, engine):
        self.write_profiled()
        answer = json.loads(self.kashi("run", "m.hlo", "--engine", engine, "--repeat", "4", "--profile", "--json"))
        profile = answer["profile"]
        steps = {step["name"]: step for step in profile["steps"]}
        self.assertEqual(profile["runs"], 3)
        self.assertAlmostEqual(sum(step["ms"] for step in steps.values()) + profile["between_steps_ms"],
                               profile["run_ms"], delta=1e-6)
        self.assertAlmostEqual(sum(step["share"] for step in steps.values()) +
                               profile["between_steps_ms"] / profile["run_ms"], 1, delta=1e-6)
        self.assertGreater(profile["copy_gbps"], 0)
        dot = steps["d"]
        self.assertEqual((dot["calls"], dot["flops"], dot["op_name"], dot["source"]),
                         (5, 2 * 300**3, "jit(f)/dot", "f.py:3"))
        self.assertAlmostEqual(dot["gflops"], dot["flops"] * 5 / dot["ms"] * 1e-6, delta=dot["gflops"] * 1e-9)
        self.assertAlmostEqual(dot["of_dot"], dot["gflops"] / profile["dot_gflops"], delta=1e-9)
        self.assertNotIn("flops", steps["w"])  # those of the steps within it
        self.assertEqual(profile["steps"], sorted(profile["steps"], key=lambda step: -step["ms"]))
        return steps

    def test_profile_of_the_evaluator(self):
        steps = self.check_profile("evaluator")
        self.assertEqual((steps["t"]["what"], steps["t"]["transcendentals"]), ("tanh", 90000))

    def test_profile_of_the_compiled_engine(self):
        self.needs_compiled_engine()
        steps = self.check_profile("cpu")
        self.assertIn("tanh, multiply", [step["what"] for step in steps.values()])

    def test_profile_as_a_table(self):
        self.write_profiled()
        text = self.kashi("run", "m.hlo", "--engine", "evaluator", "--profile", "--top", "2")
        table = text[text.index("profile of the only run, engine evaluator: "):].splitlines()
        self.assertRegex(table[1], r"^this machine copies .* GB/s and multiplies f32 matrices at .* GFLOP/s$")
        self.assertEqual(table[2].split()[:2], ["time", "share"])
        self.assertRegex(table[5], r"\(\d+ other steps\)$")
        self.assertEqual(len(table), 6)
        text = self.kashi("run", "m.hlo", "--engine", "evaluator", "--profile", "--top", "100")
        self.assertRegex(text, r" [mun]s +[\d.]+ % +5 .* d +dot +f\.py:3 jit\(f\)/dot\n")
        self.assertIn("profile of 2 runs after the first", self.kashi("run", "m.hlo", "--repeat", "3", "--profile"))

    def test_profile_trace(self):
        self.write_profiled()
        self.kashi("run", "m.hlo", "--engine", "evaluator", "--profile-trace", "trace.json")
        trace = json.loads((self.folder / "trace.json").read_text())
        events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.assertEqual(sum(event["name"] == "d" for event in events), 5)
        run = [event for event in events if event["name"] == "run"]
        self.assertEqual(len(run), 1)
        for event in events:
            self.assertGreaterEqual(event["ts"], run[0]["ts"])
            self.assertLessEqual(event["ts"] + event["dur"], run[0]["ts"] + run[0]["dur"] + 0.002)
        dot = next(event for event in events if event["name"] == "d")
        self.assertEqual(dot["args"], {"what": "dot", "source": "f.py:3 jit(f)/dot", "bytes": 3 * 360000,
                                       "flops": 2 * 300**3})

    def test_profile_of_several_devices(self):
        self.write(m_hlo="""
            HloModule m, replica_count=2
            ENTRY e { x = f32[100,100] parameter(0) ROOT y = f32[100,100] tanh(x) }""")
        answer = json.loads(self.kashi("run", "m.hlo", "--engine", "evaluator", "--profile", "--json",
                                       "--profile-trace", "trace.json"))
        self.assertEqual([(step["name"], step["calls"]) for step in answer["profile"]["steps"]], [("y", 2)])
        trace = json.loads((self.folder / "trace.json").read_text())
        self.assertEqual({event["tid"] for event in trace["traceEvents"] if event["ph"] == "X"}, {0, 1})

    def test_a_profile_without_watchers_and_with_a_file_that_can_be_written(self):
        self.write(m_hlo="ENTRY e { ROOT x = f32[2] parameter(0) }")
        for options in (["--profile", "--check-nan"], ["--profile-trace", "t.json", "--until", "x"]):
            self.assertIn("--profile", self.kashi("run", "m.hlo", *options, status=2))
        self.assertIn("no/t.json", self.kashi("run", "m.hlo", "--profile-trace", "no/t.json", status=1))
        self.kashi("run", "m.hlo", "--profile", "--top", "-1", status=2)

    def test_raw_bits(self):
        self.write(m_hlo="""
            ENTRY e {
              a = bf16[2] parameter(0)
              b = s4[2] parameter(1)
              c = pred[2] parameter(2)
              d = bf16[2] negate(a)
              f = s4[2] negate(b)
              g = pred[2] not(c)
              ROOT r = (bf16[2], s4[2], pred[2]) tuple(d, f, g)
            }""", a_npy=npy("<u2", [2], struct.pack("<2H", 0x3F80, 0x4000)), b_npy=npy("|V1", [2], b"\x07\xfe"),
                   c_npy=npy("|u1", [2], b"\x01\x00"))
        self.kashi("run", "m.hlo", "--input", "a.npy", "--input", "b.npy", "--input", "c.npy", "--output-dir", ".")
        self.assertEqual(elements(self.folder / "out0.npy", "H"), [0xBF80, 0xC000])
        self.assertEqual([x & 15 for x in elements(self.folder / "out1.npy", "B")], [9, 2])
        self.assertEqual(elements(self.folder / "out2.npy", "B"), [0, 1])

    def test_dynamic_dimensions_take_any_size_up_to_the_bound(self):
        self.write(m_hlo="ENTRY e {\n a = f32[<=4] parameter(0)\n ROOT r = f32[<=4] negate(a)\n}", two_npy=f32(1, 2),
                   five_npy=f32(1, 2, 3, 4, 5))
        self.assertIn("out0  f32[2]", self.kashi("run", "m.hlo", "--input", "two.npy"))
        self.assertIn("f32[5]", self.kashi("run", "m.hlo", "--input", "five.npy", status=1))

    def test_wrong_inputs_are_named(self):
        self.write(m_hlo="ENTRY e {\n a = f32[2] parameter(0)\n ROOT r = f32[2] negate(a)\n}", x_npy=f32(1, 2, 3))
        text = self.kashi("run", "m.hlo", "--input", "x.npy", status=1)
        self.assertIn("parameter 0 (a): x.npy: .npy holds f32[3], not f32[2]", text)

    def test_expected_values(self):
        self.write(m_hlo="ENTRY e {\n a = f32[2] parameter(0)\n ROOT r = f32[2] negate(a)\n}", x_npy=f32(1, 2),
                   near_npy=f32(-1, -2.0001), far_npy=f32(-1, -3), other_npy=f32(-1, -2, -3))
        run = ["run", "m.hlo", "--input", "x.npy", "--json", "--expect"]
        near = json.loads(self.kashi(*run, "near.npy"))["outputs"][0]["comparison"]
        self.assertEqual((near["mismatches"], near["tolerance"]), (0, 1e-4))
        self.assertGreater(near["max_ulp"], 0)
        self.kashi(*run, "near.npy", "--tolerance", "1e-6", status=1)
        far = json.loads(self.kashi(*run, "far.npy", status=1))["outputs"][0]["comparison"]
        self.assertEqual((far["mismatches"], far["max_abs"], far["first_mismatch"]), (1, 1, [1]))
        self.assertIn("other.npy", self.kashi(*run, "other.npy", status=1))
        self.assertIn("2 files", self.kashi(*run, "near.npy", "--expect", "near.npy", status=1))

    def test_repeated_runs_are_timed(self):
        self.write(m_hlo="ENTRY e {\n ROOT r = f32[9] iota(), iota_dimension=0\n}")
        times = json.loads(self.kashi("run", "m.hlo", "--repeat", "5", "--json"))
        for key in ("compile_ms", "first_ms", "run_ms_min", "run_ms_median", "peak_rss_bytes"):
            self.assertGreater(times[key], 0, key)
        self.assertLessEqual(times["run_ms_min"], times["run_ms_median"])

    def test_random_inputs_are_those_of_the_seed(self):
        self.write(m_hlo="ENTRY e {\n a = f32[9] parameter(0)\n ROOT r = f32[9] negate(a)\n}")
        run = lambda seed: self.kashi("run", "m.hlo", "--seed", seed)
        self.assertEqual(run("1"), run("1"))
        self.assertNotEqual(run("1"), run("2"))

    def test_a_snapshot_runs_on_its_arguments(self):
        self.write(m_hlo="ENTRY e {\n a = f32[2] parameter(0)\n ROOT r = f32[2] negate(a)\n}")
        module = self.kashi("convert", "m.hlo", "--to", "pbtxt")
        shape = "shape { element_type: F32 dimensions: 2 is_dynamic_dimension: false layout { minor_to_major: 0 } }"
        literal = lambda field, x: f"{field} {{ {shape} f32s: 1 f32s: {x} }}\n"
        head = f"hlo {{ hlo_module {{ {module} }} }}\n" + literal("arguments", 3)
        self.write(good_pbtxt=head + literal("result", -3).replace("f32s: 1", "f32s: -1"),
                   bad_pbtxt=head + literal("result", 4))
        self.assertIn("as expected: 0 of 2", self.kashi("run", "good.pbtxt"))
        self.assertIn("NOT as expected: 2 of 2", self.kashi("run", "bad.pbtxt", status=1))

    def test_several_devices(self):
        self.write(m_hlo="""
            HloModule m, replica_count=2
            sum {
              x = f32[] parameter(0)
              y = f32[] parameter(1)
              ROOT s = f32[] add(x, y)
            }
            ENTRY e {
              a = f32[2] parameter(0)
              ROOT r = f32[2] all-reduce(a), replica_groups={}, to_apply=sum
            }""", in__dev0__in0_npy=f32(1, 2), in__dev1__in0_npy=f32(3, 5))
        self.assertIn("dev1\nout0  f32[2]", self.kashi("run", "m.hlo", "--devices-dir", "in", "--output-dir", "out"))
        for device in range(2):
            self.assertEqual(elements(self.folder / f"out/dev{device}/out0.npy", "f"), [4, 7])
        self.kashi("run", "m.hlo", "--devices-dir", "in", "--expect-devices", "out")
        self.write(out__dev1__out0_npy=f32(4, 8))
        self.kashi("run", "m.hlo", "--devices-dir", "in", "--expect-devices", "out", status=1)
        self.assertIn("one device", self.kashi("run", "m.hlo", "--devices-dir", "in", "--check-nan", status=1))
        self.assertIn("--devices-dir", self.kashi("run", "m.hlo", "--input", "out/dev1/out0.npy", status=1))

    def test_a_program_computes_custom_calls(self):
        self.write(m_hlo="""
            ENTRY e {
              a = f32[2] parameter(0)
              ROOT r = f32[2] custom-call(a), custom_call_target="mine"
            }""", a_npy=f32(1, 2))
        run = ["run", "m.hlo", "--input", "a.npy", "--output-dir", "out"]
        self.assertIn('"mine" is not known', self.kashi(*run, status=1))
        self.assertFalse((self.folder / "out").exists())  # no empty directory
        self.kashi(*run, "--custom-call", "mine=sh -c 'cp $0/in0.npy $0/out0.npy'")
        self.assertEqual(elements(self.folder / "out/out0.npy", "f"), [1, 2])
        self.assertIn("exit status 3", self.kashi(*run, "--custom-call", "mine=exit 3;", status=1))
        self.assertIn("out0.npy", self.kashi(*run, "--custom-call", "mine=true", status=1))
        self.kashi(*run, "--custom-call", "mine", status=2)

    def test_a_trace_has_every_value(self):
        self.write(m_hlo="""
            ENTRY e {
              a = f32[2] parameter(0)
              b = f32[2] negate(a)
              ROOT r = (f32[2], f32[2]) tuple(a, b)
            }""", x_npy=f32(1, 2))
        self.kashi("run", "m.hlo", "--input", "x.npy", "--trace", "t")
        rows = [row.split("\t") for row in (self.folder / "t/index.tsv").read_text().splitlines()]
        self.assertEqual([row[1] + row[4] for row in rows[1:]], ["a{}", "b{}", "r{0}", "r{1}"])
        self.assertEqual(elements(self.folder / "t" / rows[2][0], "f"), [-1, -2])
        self.assertEqual(len(list((self.folder / "t").iterdir())), 5)
        self.kashi("run", "m.hlo", "--input", "x.npy", "--trace", "u", "--trace-limit", "8k")
        self.assertEqual(len(list((self.folder / "u").iterdir())), 3)

    def test_diff_of_the_engines(self):
        self.needs_compiled_engine()
        self.write(m_hlo="ENTRY e { x = f32[2] parameter(0) y = f32[2] multiply(x, x) ROOT r = f32[2] add(y, y) }",
                   denormal_npy=f32(1e-20, 1))
        text = self.kashi("diff", "m.hlo", "m.hlo", "--engine-b", "cpu")
        self.assertIn("out0  f32[2]  agrees: 0 of 2 elements differ", text)
        self.assertIn("instructions: not compared", text)
        strict = ["--input", "denormal.npy", "--tolerance", "0", "--json"]
        differ = json.loads(self.kashi("diff", "m.hlo", "m.hlo", "--engine-a", "cpu", *strict, status=1))
        self.assertEqual(differ["engines"], {"a": "cpu", "b": "evaluator"})
        self.assertEqual(differ["outputs"][0]["mismatches"], 1)
        self.assertEqual(differ["wrong_steps"]["A"]["index"], "[0]")
        differ = self.kashi("diff", "m.hlo", "m.hlo", "--engine-b", "cpu", *strict[:-1], status=1)
        self.assertRegex(differ, r"\ninstructions of B: \S+ in e computes something else than the evaluator")
        self.assertIn("--engine-b", self.kashi("diff", "m.hlo", "m.hlo", "--engine-b", "gpu", status=2))

    def test_diff_takes_inputs(self):
        text = "ENTRY e {\n a = f32[2] parameter(0)\n b = f32[2] OP(a)\n ROOT r = f32[2] add(b, a)\n}"
        self.write(a_hlo=text.replace("OP", "abs"), b_hlo=text.replace("OP", "copy"), x_npy=f32(1, 2), y_npy=f32(1, -2))
        same = json.loads(self.kashi("diff", "a.hlo", "b.hlo", "--input", "x.npy", "--json", status=1))
        self.assertNotIn("first_disagreement", same)
        other = json.loads(self.kashi("diff", "a.hlo", "b.hlo", "--input", "y.npy", "--json", status=1))
        self.assertEqual(other["first_disagreement"]["a"]["instruction"], "b")

    def test_ctrl_c(self):
        self.write(m_hlo="""
            body {
              x = s32[] parameter(0)
              ROOT y = s32[] negate(x)
            }
            forever {
              x = s32[] parameter(0)
              ROOT t = pred[] constant(true)
            }
            ENTRY e {
              zero = s32[] constant(0)
              ROOT r = s32[] while(zero), condition=forever, body=body
            }""")
        process = subprocess.Popen([kashi_testing.KASHI, "run", "m.hlo", "--output-dir", "o"],
                                   cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual((process.returncode, out, err), (130, "", "kashi: interrupted\n"))
        self.assertFalse((self.folder / "o").exists())

    def test_limits_hold_while_a_module_is_read(self):
        """A pipe into which nobody writes takes as long to read as the largest module."""
        os.mkfifo(self.folder / "slow.hlo")
        writer = os.open(self.folder / "slow.hlo", os.O_RDWR)
        try:
            for arguments in (["run", "slow.hlo"], ["diff", "slow.hlo", "slow.hlo"]):
                with self.subTest(arguments=arguments):
                    text = self.kashi(*arguments, "--timeout", "0.2", status=1)
                    self.assertEqual(text, "kashi: error: The run took longer than 0.2 seconds (--timeout sets the limit)\n")
            process = subprocess.Popen([kashi_testing.KASHI, "run", "slow.hlo"], cwd=self.folder, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=TIMEOUT_S)
            self.assertEqual((process.returncode, out, err), (130, "", "kashi: interrupted\n"))
        finally:
            os.close(writer)

    def test_results_may_be_written_after_the_timeout(self):
        self.write(m_hlo="ENTRY e { x = f32[2] constant({1, 2}) ROOT y = f32[2] negate(x) }")
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        try:
            while True:  # until the pipe is full: then the command waits for its reader
                os.write(writer, b"\n" * 4096)
        except BlockingIOError:
            os.set_blocking(writer, True)
        process = subprocess.Popen([kashi_testing.KASHI, "run", "m.hlo", "--timeout", "0.5"], cwd=self.folder,
                                   stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        time.sleep(2.5)
        with open(reader, "rb") as pipe:
            self.assertIn(b"out0  f32[2]", pipe.read())
        self.assertEqual((process.wait(timeout=TIMEOUT_S), process.stderr.read()), (0, b""))
        process.stderr.close()


if __name__ == "__main__":
    kashi_testing.main(__doc__)
