"""Says at the end which tests were left out, as the other test programs do (scripts/count_tests.py)."""


def pytest_terminal_summary(terminalreporter):
    reasons = {str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", [])}
    for reason in sorted(reasons):
        terminalreporter.write_line(f"NOT TESTED: {reason}")
