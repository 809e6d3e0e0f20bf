"""What the compiler has to say about a file: the one place where the golden tests meet the compiler."""

from pathlib import Path

from sbc.diagnostics.diagnostic import Diagnostic, Failed, Reporter
from sbc.resolve.lower import lower
from sbc.resolve.modules import Modules


def diagnostics_of(path: Path) -> list[Diagnostic]:
    """Give every diagnostic of a file, in the order told."""
    reporter = Reporter()
    modules = Modules(reporter)
    modules.load_main(path)
    try:
        lower(modules, None, reporter)
    except Failed as failed:
        return list(failed.diagnostics)
    return list(reporter.diagnostics)
