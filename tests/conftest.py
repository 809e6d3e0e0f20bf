"""What all tests share: how hypothesis looks for examples, and the modes of files that tests make."""

import os
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.verified.results import VARIABLE, record

# How long an example takes says nothing about what is tested, least of all on a machine that does other things too.
settings.register_profile("sbc", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
# The gate is reproducible; elsewhere every run looks at other examples.
settings.register_profile("sbc-ci", settings.get_profile("sbc"), derandomize=True, database=None)
settings.load_profile("sbc-ci" if os.environ.get("CI") == "true" else "sbc")

# Tests make files for other users, whatever the umask of who starts them.
os.umask(0o022)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep the results where `SBC_RESULTS` says (`tests/verified`).

    Where `SBC_REVIEWED_SKIPS` is set, fail for a skip whose reason nobody has reviewed (`reviewed_skips.txt`).
    """
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    if place := os.environ.get(VARIABLE):
        ended = {"passed": "passed", "failed": "failed", "error": "failed", "skipped": "skipped"}
        found = [(one.nodeid, word) for kind, word in ended.items() for one in reporter.stats.get(kind, [])]
        record(found, Path(place))
    if not os.environ.get("SBC_REVIEWED_SKIPS"):
        return
    listed = (Path(__file__).parent / "reviewed_skips.txt").read_text(encoding="utf-8").splitlines()
    reviewed = [line for line in listed if line and not line.startswith("#")]
    skipped: list[pytest.TestReport] = reporter.stats.get("skipped", [])
    for report in skipped:
        where = report.longrepr
        reason = str(where[2] if isinstance(where, tuple) else where).removeprefix("Skipped: ")
        if not any(fnmatchcase(reason, pattern) for pattern in reviewed):
            reporter.write_line(f"skipped for a reason that nobody reviewed: {report.nodeid}: {reason}", red=True)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
