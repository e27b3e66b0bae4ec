"""Some rounds of the fuzzer of the binding, always the same; ./dev check runs it for longer, under AddressSanitizer."""
import warnings

import fuzz_binding


def test_rounds():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy's, of overflows
        rounds = [fuzz_binding.run_round(seed) for seed in range(4000)]
    completed = {name for name, is_complete in rounds if is_complete}
    assert completed == {task.__name__ for task in fuzz_binding.TASKS}
