"""The statements in force: the rows of the coverage table."""

from collections.abc import Iterable, Iterator

from sbc.diagnostics.span import Source
from sbc.policy.filesystem import Files
from sbc.policy.network import Network
from sbc.policy.origin import Origin
from sbc.policy.process import Environment, IdentityValue
from sbc.policy.seatbelt import Seatbelt
from sbc.policy.syscalls import Syscalls


def of_syscalls(syscalls: Syscalls) -> Iterator[Origin]:
    """Give what decides where no rule does; rules are listed as they are lowered."""
    if not syscalls.filters:
        yield syscalls.origin
    for policy in syscalls.filters:
        yield policy.foreign_origin
        for abi in policy.abis:
            yield abi.default_origin


def of_files(files: Files) -> Iterator[Origin]:
    """Give the statements of the `files` block."""
    for part in (files.roots, files.rules, files.tmps, files.devices, files.start_in):
        for one in part:
            yield one.origin


def of_network(network: Network) -> Iterator[Origin]:
    """Give the statements of the `network` block."""
    yield network.origin
    for allowance in network.allowances:
        yield allowance.origin


def of_identity(identity: tuple[IdentityValue, ...]) -> Iterator[Origin]:
    """Give the statements of the `identity` block."""
    if not identity:
        yield Origin("identity", "no `identity` block")
    for one in identity:
        yield one.origin


def of_environment(environment: Environment) -> Iterator[Origin]:
    """Give the statements of the `environment` block."""
    if not environment.patterns and not environment.variables:
        yield Origin("environment", "no `environment` block")
    for part in (environment.patterns, environment.variables):
        for one in part:
            yield one.origin


def of_seatbelt(seatbelt: Seatbelt) -> Iterator[Origin]:
    """Give the statements of the `seatbelt` block."""
    yield seatbelt.default.origin
    for statement in seatbelt.statements:
        yield statement.origin


def in_source_order(origins: Iterable[Origin], sources: Iterable[Source]) -> tuple[Origin, ...]:
    """Sort statements as they stand, the main file first; what no statement says comes last. Each is there once."""
    order = {source.name: index for index, source in enumerate(sources)}

    def place(origin: Origin) -> tuple[int, int]:
        if origin.span is None:
            return len(order), 0
        return order[origin.span.source.name], origin.span.start

    return tuple(sorted(dict.fromkeys(origins), key=place))
