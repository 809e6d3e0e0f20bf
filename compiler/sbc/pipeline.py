"""The whole compiler on one page: parse, resolve, lint, emit and prove, bundle.

Each stage reports all its errors before the next one starts; nothing is written here.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from sbc import __version__
from sbc.analysis.lint import lint
from sbc.analysis.summary import Summary, summarise
from sbc.backends import registry
from sbc.backends.bpf.target import BpfTarget, Filter
from sbc.backends.bundle.assemble import Parts, bundle, output
from sbc.backends.coverage import Coverage, Outcome, coverage, judged, refused
from sbc.backends.docs.report import Note, Report
from sbc.backends.docs.target import DocsTarget
from sbc.backends.target import Artifact, OutputFile, Unsayable
from sbc.diagnostics.catalogue.proof import FilterIsWrong, FilterLetsAllThrough, FilterTooLarge, TooComplexToProve
from sbc.diagnostics.diagnostic import Failed, Reporter
from sbc.policy.policy import Policy
from sbc.record import Record
from sbc.resolve.lower import check_definitions, lower
from sbc.resolve.modules import Modules, load, profile_names

EMITTED = ("bpf", "sbpl", "bwrap")
"""The targets that are made from the policy alone; documents and bundles hold what these made."""


class Compilation(Record):
    """What a profile compiles to: the files of the targets asked for, and the coverage table of all."""

    policy: Policy
    files: tuple[OutputFile, ...]
    coverage: Coverage
    notes: tuple[Note, ...] = ()


def load_policy(path: Path, profile: str | None, reporter: Reporter) -> Policy:
    """Read a profile: parse it and all that it uses, resolve every name, lint. `Failed` with every error found."""
    return _policy(load(path, reporter), profile, reporter)


def bundle_file(path: Path, profile: str | None, reporter: Reporter) -> tuple[bytes, dict[str, str]]:
    """Compile a profile to its bundle; with it the SHA-256 of each file read, by its real path.

    Losses are for the backend that runs it to judge, so a `wider` one of some target is no error here.
    """
    modules = load(path, reporter)
    policy = _policy(modules, profile, reporter)
    outcomes = emit(policy, reporter)
    (bundled,) = _files(policy, ("bundle",), outcomes, coverage(policy, outcomes))
    return bundled.content, modules.digests()


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
    from sbc_runtime.arch_test import lets_any_abi_through
    from sbc_runtime.instruction import MAX_INSTRUCTIONS
    from sbc_runtime.verifier import Refused

    built: list[Filter] = []
    span = policy.syscalls.origin.span
    for wanted in policy.syscalls.filters:
        try:
            made = build(wanted)
            if lets_any_abi_through(made.program):
                reporter.add(FilterLetsAllThrough(span, wanted.name))
            built.append(made)
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
    filters = [build_filters(policy, reporter) for policy in policies]
    for policy in policies:
        emit(policy, reporter, ("sbpl",))
    return tuple(map(summarise, policies, filters))


def compile_file(
    path: Path, profile: str | None, targets: Iterable[str] | None, reporter: Reporter, *, allow_wider: bool = False
) -> Compilation:
    """Compile a profile to the targets named (None: the default ones). `Failed` with every error found.

    A default target that has no words for the profile is left out with a note; one named is an error.
    """
    names = registry.chosen(targets)
    policy = load_policy(path, profile, reporter)
    # Documents and bundles tell of every target, so every one is made for them.
    wanted = EMITTED if {"docs", "bundle"} & set(names) else names
    outcomes = emit(policy, reporter, wanted)
    for outcome in outcomes:
        name = outcome.target.name
        asked = name in names
        if isinstance(outcome.result, Unsayable):
            if asked:
                reporter.add(refused(outcome.result, named=targets is not None))
        elif asked or "bundle" in names:
            for diagnostic in judged(outcome.result.losses, allow_wider):
                reporter.add(diagnostic)
    reporter.end_stage()
    table = coverage(policy, outcomes)
    told = [one for one in outcomes if one.target.name in names or "bundle" in names]
    return Compilation(policy, tuple(_files(policy, names, outcomes, table)), table, notes_of(told))


def emit(policy: Policy, reporter: Reporter, names: Sequence[str] = EMITTED) -> tuple[Outcome, ...]:
    """Emit a policy to the named targets; `Failed` where one finds the policy wrong."""
    outcomes: list[Outcome] = []
    for name in names:
        if name == "bpf":
            bpf = BpfTarget()
            outcomes.append(Outcome(bpf, bpf.artifact(policy.name, build_filters(policy, reporter))))
            continue
        target = registry.load(name)
        try:
            outcomes.append(Outcome(target, target.emit(policy)))
        except Unsayable as error:
            outcomes.append(Outcome(target, error))
        except Failed as failure:
            for diagnostic in failure.diagnostics:
                reporter.add(diagnostic)
    reporter.end_stage()
    return tuple(outcomes)


def report_of(outcomes: Sequence[Outcome], table: Coverage) -> Report:
    """Give what documents say of the targets."""
    made = (outcome.result for outcome in outcomes)
    losses = tuple(loss for result in made if isinstance(result, Artifact) for loss in result.losses)
    return Report(table, losses, notes_of(outcomes))


def notes_of(outcomes: Iterable[Outcome]) -> tuple[Note, ...]:
    """Give what targets say of what they made."""
    made = ((one.target.name, one.result) for one in outcomes)
    return tuple(
        Note(name, text.removeprefix(f"{name}: "))
        for name, result in made
        if isinstance(result, Artifact)
        for text in result.notes
    )


def _files(policy: Policy, names: Sequence[str], outcomes: Sequence[Outcome], table: Coverage) -> Iterable[OutputFile]:
    results = {outcome.target.name: outcome.result for outcome in outcomes}
    for name, result in results.items():
        if name in names and isinstance(result, Artifact):
            yield from result.files
    if "docs" not in names and "bundle" not in names:
        return
    (document,) = DocsTarget(report_of(outcomes, table)).emit(policy).files
    if "docs" in names:
        yield document
    if "bundle" in names:
        bpf, sbpl, bwrap = (results[name] for name in EMITTED)
        assert isinstance(bpf, Artifact)  # noqa: S101 (every verdict can be said in BPF)
        parts = Parts(
            bpf,
            sbpl if isinstance(sbpl, Artifact) else sbpl.why,
            bwrap if isinstance(bwrap, Artifact) else bwrap.why,
            table,
            document.content.decode(),
            __version__,
        )
        yield output(bundle(policy, parts))
