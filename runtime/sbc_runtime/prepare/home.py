"""`~` where the password database has no home for the real uid, as in containers with an id of nobody's."""

import os
from collections.abc import Iterator

from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Caller
from sbc_runtime.plan import Path, Plan, Statement
from sbc_runtime.prepare.select import on_linux


def check_home(plan: Plan, caller: Caller) -> None:
    """Refuse (`SetupFailed`) a statement that names a home which is not known.

    HOME, which anybody may set, stands in for it in `hide` only, which it cannot make wider.
    """
    if caller.home:
        return
    for path, statement, hides in _named(plan):
        if path is None or path.base != "home" or (hides and caller.home_variable is not None):
            continue
        why = f"the home of uid {os.getuid()} is not known: the password database has none"
        remedy = "give this uid an entry with a home in /etc/passwd"
        raise SetupFailed("parameters", why, f"set HOME, or {remedy}" if hides else remedy, 0, statement.where())


def _named(plan: Plan) -> Iterator[tuple[Path | None, Statement, bool]]:
    """Give each path of a plan, and whether its statement only takes away."""
    for rule in on_linux(plan.rules):
        yield rule.path, rule.statement, rule.access == "hide"
        yield rule.place, rule.statement, False
    for group in (plan.tmps, plan.start_in, plan.network.allowances):
        for one in on_linux(group):
            yield one.path, one.statement, False
