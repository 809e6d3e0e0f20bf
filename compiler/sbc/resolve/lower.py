"""From the syntax tree to the policy: the only bridge between the language and what it means."""

from typing import cast

from sbc.diagnostics.catalogue.modules import ExtendsCycle
from sbc.diagnostics.diagnostic import Failed, Reporter, Severity
from sbc.policy.origin import Block, Origin
from sbc.policy.policy import Override, Policy
from sbc.policy.syscalls import Syscalls
from sbc.resolve import statements
from sbc.resolve.calls import Statements
from sbc.resolve.chain import Level, chain_of
from sbc.resolve.environment import lower_environment
from sbc.resolve.files import FilesLowering
from sbc.resolve.groups import Groups
from sbc.resolve.guards import Guards
from sbc.resolve.identity import lower_identity
from sbc.resolve.limits import lower_limits
from sbc.resolve.modules import Module, Modules
from sbc.resolve.network import lower_network
from sbc.resolve.origins import block_origin
from sbc.resolve.params import Params
from sbc.resolve.proc import lower_proc
from sbc.resolve.reach import check_unreached
from sbc.resolve.scope import Scopes
from sbc.resolve.seatbelt import lower_seatbelt
from sbc.resolve.syscalls import SyscallLowering
from sbc.syntax import tree


def lower(modules: Modules, profile: str | None, reporter: Reporter) -> Policy:
    """Give the policy of a profile of the main file, by name or the only one; `Failed` with every error found.

    The errors of the file's other profiles are found too: a file with an error is never compiled.
    """
    if modules.main is None:
        raise Failed(reporter.diagnostics)
    failure: Failed | None = None
    made: Policy | None = None
    try:
        made = _lowered(modules, modules.main, profile, reporter)
    except Failed as error:
        failure = error
    chosen = profile if made is None else made.name
    if chosen is not None:
        _check_others(modules, modules.main, chosen, reporter)
    reporter.end_stage()
    if made is None:
        raise failure or Failed(reporter.diagnostics)
    return made


def _check_others(modules: Modules, main: Module, chosen: str, reporter: Reporter) -> None:
    """Tell the errors of the main file's other profiles, of each the first time that the file is looked at.

    Their policies are kept for the analyses, which find errors too.
    """
    modules.checked.add(chosen)
    left: dict[str, tree.Profile] = {}
    for item in main.tree.items:
        if isinstance(item, tree.Profile) and item.name.text not in modules.checked:
            left.setdefault(item.name.text, item)
    modules.checked.update(left)
    shared = Reporter()
    scopes = Scopes(modules, shared)
    groups = Groups(scopes, shared)
    for profile in left.values():
        own = Reporter()
        try:
            policy = _lowered(modules, main, profile, own, (scopes, groups))
            if policy.syscalls.filters or policy.seatbelt.statements:
                modules.others.append(policy)
        except Failed:
            _add_errors(own, reporter)
    _add_errors(shared, reporter)


def _add_errors(found: Reporter, reporter: Reporter) -> None:
    cycles = any(isinstance(diagnostic, ExtendsCycle) for diagnostic in reporter.diagnostics)
    for diagnostic in found.diagnostics:
        if diagnostic.severity is Severity.ERROR and not (cycles and isinstance(diagnostic, ExtendsCycle)):
            reporter.add(diagnostic)  # a cycle is told once, and not from each of its profiles


def _lowered(
    modules: Modules,
    main: Module,
    profile: "tree.Profile | str | None",
    reporter: Reporter,
    known: tuple[Scopes, Groups] | None = None,
) -> Policy:
    """Lower one profile; with `known`, another one's names and groups, for the errors alone."""
    if known is None:
        scopes = Scopes(modules, reporter)
        groups = Groups(scopes, reporter)
        _check_definitions(modules, scopes, groups)
    else:
        scopes, groups = known
    levels = chain_of(main, profile, scopes, reporter)
    reporter.end_stage()

    overrides: list[Override] = []
    params = Params(levels, overrides, reporter)
    calls = SyscallLowering(scopes, groups, reporter)
    if known is not None and not any("syscalls" in level.blocks for level in levels):
        syscalls = Syscalls((), Origin("syscalls", "no `syscalls` block"))  # the stock list, which has no errors
    else:
        syscalls = calls.lower(levels)
    files = FilesLowering(groups, params, overrides, reporter).lower(levels)
    proc = lower_proc(levels, groups, overrides, reporter)
    network = lower_network(levels, params, overrides, reporter)
    environment = lower_environment(levels, params, overrides, reporter)
    identity = lower_identity(levels, params, overrides, reporter)
    limits = lower_limits(levels, params, overrides, reporter)
    seatbelt = lower_seatbelt(levels, overrides, reporter)
    containment = _containment(levels)
    declared = params.all()
    reporter.end_stage()

    if files is None:
        raise Failed(reporter.diagnostics)
    listed: list[Origin] = [
        *calls.listed,
        *statements.of_syscalls(syscalls),
        *statements.of_files(files),
        *(rule.origin for rule in proc),
        *statements.of_network(network),
        *statements.of_environment(environment),
        *statements.of_identity(identity),
        *(one.origin for one in limits),
        *statements.of_seatbelt(seatbelt),
        *(() if containment is None else (containment,)),
    ]
    chosen = levels[0].profile
    return Policy(
        chosen.name.text,
        chosen.reason,
        declared,
        syscalls,
        files,
        proc,
        network,
        environment,
        identity,
        limits,
        seatbelt,
        modules.sources() if known is None else (),
        (*calls.overrides, *overrides),
        statements.in_source_order(listed, [module.source for module in modules]),
        _block_reasons(levels),
        containment,
    )


def _containment(levels: list[Level]) -> Origin | None:
    """Give the statement of the nearest profile that makes it: a child cannot take it back."""
    for level in levels:
        if "containment" in level.blocks:
            return block_origin("containment", level.blocks["containment"])
    return None


def _block_reasons(levels: list[Level]) -> tuple[tuple[Block, str], ...]:
    """Give what is said above each block, by the nearest profile of the chain that says anything."""
    found: dict[str, str] = {}
    for level in levels:
        for keyword, block in level.blocks.items():
            if block.reason:
                found.setdefault(keyword, block.reason)
    return tuple((cast("Block", keyword), reason) for keyword, reason in found.items())


def check_definitions(modules: Modules, reporter: Reporter) -> None:
    """Check a file that has no profile: its names, groups and rules; `Failed` with every error found."""
    scopes = Scopes(modules, reporter)
    groups = Groups(scopes, reporter)
    _check_definitions(modules, scopes, groups)
    check_unreached(Statements(scopes, groups, reporter), Guards(groups, reporter), [], scopes, reporter)
    reporter.end_stage()


def _check_definitions(modules: Modules, scopes: Scopes, groups: Groups) -> None:
    """Check the names of every file, and open every group, used or not: nothing is ignored."""
    for module in modules:
        if module.stock:
            continue
        for found in scopes.near(module).values():
            if found.module is module and isinstance(found.node, tree.Group):
                groups.open(found)
