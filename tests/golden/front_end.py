"""What the compiler has to say about a file: the one place where the golden tests meet the compiler."""

from pathlib import Path

from sbc.diagnostics.diagnostic import Diagnostic, Failed, Reporter
from sbc.pipeline import load_policy


def diagnostics_of(path: Path, profile: str | None = None) -> list[Diagnostic]:
    """Give every diagnostic of a file, in the order told, as the command tells them."""
    reporter = Reporter()
    try:
        load_policy(path, profile, reporter)
    except Failed as failed:
        return list(dict.fromkeys((*reporter.diagnostics, *failed.diagnostics)))
    return list(reporter.diagnostics)
