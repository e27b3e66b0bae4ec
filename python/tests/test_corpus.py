"""The modules of real XLA (tests/data/corpus) through the Python door: read, printed, verified, run."""
import hashlib
import pathlib

import ml_dtypes
import numpy as np
import pytest

import kashi

CORPUS = pathlib.Path(__file__).parents[2] / "tests/data/corpus"
# Enough to run most of the modules, in some seconds.
MOST_FLOPS, MOST_BYTES = 2e7, 2e7


def table(name):
    lines = (CORPUS / name).read_text().splitlines()
    return [line.split("\t") for line in lines[1:]]


@pytest.fixture(scope="module")
def modules():
    """Each file of canonical.tsv, read."""
    return {name: (kashi.parse(CORPUS / name), digest) for name, digest, _ in table("canonical.tsv")}


def test_text_is_that_of_xla(modules):
    for name, (module, digest) in modules.items():
        assert hashlib.sha256(str(module).rstrip("\n").encode("utf-8", "surrogateescape")).hexdigest() == digest, name


def test_views(modules):
    """All that an instruction can be asked; what attributes say is what `add` takes."""
    for name, (module, _) in modules.items():
        assert module.verify() == [], name
        assert module.cost()["bytes_accessed"] >= 0 and module.memory()["peak_bytes"] > 0, name
        for instruction in module.instructions:
            facts = (instruction.attributes, instruction.metadata, instruction.source, instruction.line, instruction.shape,
                     instruction.sharding, instruction.frontend_attributes, instruction.backend_config, str(instruction))
            assert all(fact is None or fact == fact for fact in facts)
            assert all(instruction in operand.users for operand in instruction.operands)
            if instruction.opcode == "constant" and instruction.shape.is_array:
                assert instruction.value.shape == instruction.shape.dimensions


def test_protos_and_pages(modules):
    for name, (module, _) in modules.items():
        if len(module.instructions) < 300:
            assert kashi.parse(module.to_proto()).fingerprint() == module.fingerprint(), name
            assert module._repr_html_().count("<details") == len(module.computations), name


def argument(shape, random):
    if shape.is_tuple:
        return tuple(argument(element, random) for element in shape.tuple_shapes)
    if shape.dtype is None:
        return None
    if shape.dtype.kind in "biu" or shape.dtype.name.startswith(("int", "uint")):
        return random.integers(0, 2, shape.dimensions).astype(shape.dtype)
    return (random.random(shape.dimensions) * .5 + .25).astype(shape.dtype)


def leaves(value):
    if isinstance(value, tuple):
        return [leaf for element in value for leaf in leaves(element)]
    return [] if value is None else [value]


def as_numbers(array):
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def test_both_engines_agree(modules):
    """On arguments without order or infinities. Some programs take only what others made: an error is fine then."""
    ran = 0
    for name, (module, _) in modules.items():
        parameters = module.program_shape.parameters
        small = module.cost()["flops"] < MOST_FLOPS and sum(s.bytes for s in parameters if s.is_array) < MOST_BYTES
        if not name.endswith(("before.hlo", "cpu.hlo")) or not small or "replica_count" in str(module)[:300] or "num_partitions" in str(module)[:3000]:
            continue
        if any(i.opcode.startswith(("rng", "infeed", "recv", "send", "outfeed")) for i in module.instructions):
            continue
        random = np.random.default_rng(7)
        arguments = [argument(shape, random) for shape in parameters]
        try:
            want = leaves(kashi.evaluate(module, *arguments))
        except (ValueError, NotImplementedError, kashi.Error):
            continue
        got = leaves(kashi.compile(module).run(*arguments))
        assert len(got) == len(want)
        for g, w in zip(got, want):
            assert g.dtype == w.dtype and g.shape == w.shape
            scale = np.max(np.abs(as_numbers(w)), initial=1e-3)
            narrow = w.dtype in (np.float16, ml_dtypes.bfloat16) or w.dtype.name.startswith("float8")
            np.testing.assert_allclose(as_numbers(g), as_numbers(w), rtol=.05, atol=scale * (.05 if narrow else 1e-2),
                                       err_msg=name)
        ran += 1
    assert ran >= 60


def test_programs_of_several_devices_give_the_results_of_xla(modules):
    ran = 0
    for name, devices, kind in table("devices.tsv"):
        module, _ = modules[f"{name}/cpu.hlo"]
        folders = [CORPUS / name / f"dev{k}" for k in range(int(devices))]
        tolerance = {"loose": 1e-2, "ulp": 1e-5, "exact": 0}[kind]
        count = len(module.program_shape.parameters)
        read = [[np.load(folder / f"in{i}.npy") for i in range(count)] for folder in folders]
        results = kashi.evaluate_on_devices(module, read)
        for folder, result in zip(folders, results):
            for i, leaf in enumerate(leaves(result)):
                want = np.load(folder / f"out{i}.npy")
                np.testing.assert_allclose(as_numbers(leaf), as_numbers(want), atol=tolerance, rtol=tolerance, err_msg=name)
        ran += 1
    assert ran > 0
