"""Every kind of diagnostic, by theme; looked up by code.

SBX0xx reading, SBX1xx syntax, SBX2xx names and conditions, SBX3xx files, network, environment, identity, limits and
parameters, SBX4xx targets and losses, SBX5xx lints, SBX6xx proof and internal, SBX7xx bundles and the runtime.
"""

from functools import cache
from importlib import import_module
from pathlib import Path

from sbc.diagnostics.diagnostic import Diagnostic


@cache
def codes() -> dict[str, type[Diagnostic]]:
    """Give the class of each code, in order of the codes; reads every module of the catalogue.

    `ValueError` where two classes claim one code.
    """
    found: dict[str, type[Diagnostic]] = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem == "__init__":
            continue
        for kind in vars(import_module(f"{__name__}.{path.stem}")).values():
            if not (isinstance(kind, type) and issubclass(kind, Diagnostic) and kind.code):
                continue
            if found.setdefault(kind.code, kind) is not kind:
                raise ValueError(f"{kind.code} is both {found[kind.code].__name__} and {kind.__name__}")
    return dict(sorted(found.items()))


def explain(code: str) -> str | None:
    """Give what a code means, as text for people; None where there is no such code."""
    from inspect import cleandoc  # noqa: PLC0415 - it costs more to import than a profile to parse

    kind = codes().get(code.upper())
    return f"{kind.code}: {cleandoc(kind.__doc__ or '')}" if kind else None
