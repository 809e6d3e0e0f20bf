"""The whole compiler on one page: parse, resolve, lint, emit and prove, bundle.

Each stage reports all its errors before the next one starts; nothing is written here.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from sbc.analysis.lint import lint
from sbc.analysis.summary import Summary, summarise
from sbc.backends.bpf.target import Filter
from sbc.diagnostics.catalogue.proof import FilterIsWrong, FilterTooLarge, TooComplexToProve
from sbc.diagnostics.diagnostic import Failed, Reporter
from sbc.policy.policy import Policy
from sbc.resolve.lower import check_definitions, lower
from sbc.resolve.modules import Modules, load, profile_names


def load_policy(path: Path, profile: str | None, reporter: Reporter) -> Policy:
    """Read a profile: parse it and all that it uses, resolve every name, lint. `Failed` with every error found."""
    return _policy(load(path, reporter), profile, reporter)


def _policy(modules: Modules, profile: str | None, reporter: Reporter) -> Policy:
    policy = lower(modules, profile, reporter)
    lint(policy, modules, reporter)
    reporter.end_stage()
    return policy


def build_filters(policy: Policy, reporter: Reporter) -> tuple[Filter, ...]:
    """Make, verify and prove the filters of a profile. `Failed` with every filter that could not be."""
    from sbc.backends.bpf.generate import TooLarge
    from sbc.backends.bpf.target import FilterDiffers, build
    from sbc.decision.table import TooComplex
    from sbc_runtime.instruction import MAX_INSTRUCTIONS
    from sbc_runtime.verifier import Refused

    built: list[Filter] = []
    span = policy.syscalls.origin.span
    for wanted in policy.syscalls.filters:
        try:
            built.append(build(wanted))
        except TooLarge as error:
            reporter.add(FilterTooLarge(span, wanted.name, error.instructions, MAX_INSTRUCTIONS, error.call))
        except TooComplex as error:
            reporter.add(TooComplexToProve(span, wanted.name, error.call, error.what))
        except (FilterDiffers, Refused) as error:
            reporter.add(FilterIsWrong(span, wanted.name, str(error)))
    reporter.end_stage()
    return tuple(built)


def check_file(path: Path, profiles: Sequence[str] | None, reporter: Reporter) -> tuple[Summary, ...]:
    """Parse, resolve, lint and prove the named profiles of a file (None: all of them); a library may have none."""
    modules = load(path, reporter)
    names = profiles if profiles is not None else profile_names(modules)
    if not names:
        check_definitions(modules, reporter)
        return ()
    policies = [_policy(modules, name, reporter) for name in names]
    return tuple(summarise(policy, build_filters(policy, reporter)) for policy in policies)


__all__ = ["Failed", "Iterable"]
