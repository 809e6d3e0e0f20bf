"""An allow-list should say what the calls of newer kernels get."""

from collections.abc import Iterator

from sbc.analysis.calls import RUNS
from sbc.analysis.subject import Subject
from sbc.analysis.words import is_enosys, verdict_text
from sbc.diagnostics.catalogue.lints import NoNewer


def check(subject: Subject) -> Iterator[NoNewer]:
    """Report defaults that refuse calls, with something else than ENOSYS, where no `newer` stands beside them."""
    for policy in subject.policy.syscalls.filters:
        for abi in policy.abis:
            name = abi.arch.name
            if abi.newer is None and abi.default.action not in RUNS and not is_enosys(abi.default, name):
                yield NoNewer(abi.default_origin.span, verdict_text(abi.default, name))
