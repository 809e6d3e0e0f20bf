"""The `network` block."""

from typing import cast

from sbc.diagnostics.catalogue import blocks as problems
from sbc.diagnostics.diagnostic import Reporter
from sbc.policy.network import LocalPort, Network, UnixSocket
from sbc.policy.origin import Origin, System
from sbc.policy.policy import Override
from sbc.resolve.chain import Level
from sbc.resolve.origins import block_origin, origin_of
from sbc.resolve.params import Params
from sbc.resolve.reserved import refuse_reserved_sockets
from sbc.resolve.systems import opened
from sbc.syntax import tree

_MAX_PORT = 65535


def lower_network(levels: list[Level], params: Params, overrides: list[Override], reporter: Reporter) -> Network:
    """Give the policy of the nearest profile's block, which stands for the whole."""
    written = [level.blocks["network"] for level in levels if "network" in level.blocks]
    if not written:
        return Network("none", (), Origin("network", "no `network` block"))
    block = written[0]
    origin = block_origin("network", block)
    overrides.extend(Override(origin, block_origin("network", other)) for other in written[1:])
    mode = "host" if block.mode is not None and block.mode.text == "host" else "none"
    allowances: list[LocalPort | UnixSocket] = []
    for statement, on in opened(block.body or (), reporter):
        allowances.extend(_allowance(statement, on, params, reporter))
    made = Network(mode, tuple(allowances), origin, block.body is not None)
    refuse_reserved_sockets(made, reporter)
    return made


def _allowance(
    statement: tree.Statement, on: System | None, params: Params, reporter: Reporter
) -> list[LocalPort | UnixSocket]:
    origin = origin_of("network", statement, on)
    if isinstance(statement, tree.UnixStatement):
        path = params.path(statement.path)
        return [] if path is None else [UnixSocket(path, origin)]
    local = cast("tree.LocalStatement", statement)
    if local.host.text != "localhost":
        reporter.add(problems.HostName(local.host.span, local.host.text))
    port = local.port
    if isinstance(port, tree.Word):
        return [LocalPort(local.verb, None, origin)]
    if not 1 <= port.value <= _MAX_PORT:
        reporter.add(problems.PortRange(port.span, port.text))
    return [LocalPort(local.verb, port.value, origin)]
