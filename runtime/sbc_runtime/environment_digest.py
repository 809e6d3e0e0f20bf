"""The environment digest: what a command ran in, as one value, so that two runs can be told to be alike.

    sha256 of "sbc environment 1\\n" and the canonical JSON of the facts

The facts are those of `Facts`. Left out is what may differ between two runs in the same environment: the command and
its input, the tree that it works on, notes, and how a limit was enforced.

The tree is what a parameter names that a `write` statement begins with. Paths below it stand as they are spelled, with
the parameter's name in place of its value; every other path stands filled in.
"""

import os
from collections.abc import Mapping
from hashlib import sha256

from sbc_runtime.canonical import canonical
from sbc_runtime.contents import Bundle
from sbc_runtime.outcome import Absent, Outcome, Protections, RunLoss, State
from sbc_runtime.plan import Path, Plan
from sbc_runtime.records import NamedTuple

DOMAIN = b"sbc environment 1\n"
"""What the hash begins with. Its number changes with the form of the facts."""


class Facts(NamedTuple):
    """What the digest covers.

    `system` and `machine` as uname(2) gives them, `cgroup`: whether one was used, `limits`: their values in
    milliseconds, bytes and counts, `environment`: names with values, `read_only`: identities, else paths, `absent`:
    optional paths that were not there.
    """

    enforcement: str
    backend: str
    system: str
    machine: str
    verified: bool
    host_root: bool
    protections: Protections
    cgroup: bool
    limits: tuple[tuple[str, int], ...]
    network: str
    environment: tuple[tuple[str, str], ...]
    read_only: tuple[str, ...]
    losses: tuple[RunLoss, ...]
    absent: tuple[str, ...]


def environment_digest(facts: Facts) -> str:
    """Give the digest, `sha256:` and 64 hexadecimal digits."""
    return "sha256:" + sha256(DOMAIN + canonical(_plain(facts))).hexdigest()


def _plain(facts: Facts) -> dict[str, object]:
    """Give the facts as a JSON value in which nothing has an order that means nothing."""
    return {
        **facts._asdict(),
        "protections": {name: shown(state) for name, state in facts.protections._asdict().items()},
        "limits": sorted([key, value] for key, value in facts.limits),
        "environment": sorted([name, value] for name, value in facts.environment),
        "read_only": sorted(set(facts.read_only)),
        # Not where a statement stands: a comment above it moves it.
        "losses": sorted([one.direction, one.text, one.why] for one in facts.losses),
        "absent": sorted(set(facts.absent)),
    }


def shown(state: State) -> bool | str:
    """Give a protection as reports have it: true, false, or the word that it could not be read."""
    return "unread" if state is None else state


def facts_of(
    outcome: Outcome, bundle: Bundle, params: Mapping[str, str | int], environment: tuple[tuple[str, str], ...]
) -> Facts | None:
    """Gather the facts of a run; None where no sandbox was made.

    `params`: complete texts of the parameters, the built-in ones (`home`, `tmpdir`, `cwd`) where they are known;
    `environment`: the command's own.
    """
    isolation = outcome.isolation
    if isolation is None:
        return None
    uname = os.uname()
    missing = {one.path for one in outcome.absent}
    return Facts(
        outcome.enforcement,
        isolation.backend,
        uname.sysname,
        uname.machine,
        isolation.verified,
        isolation.host_root,
        isolation.protections,
        outcome.cgroup is not None,
        tuple((one.key, one.value) for one in outcome.limits),
        isolation.network,
        environment,
        read_only(bundle.plan, params, missing),
        outcome.losses,
        tuple(_absent(one, bundle.plan, params) for one in outcome.absent),
    )


def read_only(plan: Plan, params: Mapping[str, str | int], missing: set[str]) -> tuple[str, ...]:
    """Give what stands for each `read` statement of Linux whose path was there."""
    tree = _tree(plan)
    return tuple(
        f"identity {rule.identity}" if rule.identity is not None else _named(rule.path, params, tree)
        for rule in plan.rules
        if rule.access == "read" and rule.on != "macos" and _filled(rule.path, params) not in missing
    )


def _absent(one: Absent, plan: Plan, params: Mapping[str, str | int]) -> str:
    tree = _tree(plan)
    return next(
        (_named(rule.path, params, tree) for rule in plan.rules if _filled(rule.path, params) == one.path), one.path
    )


def _tree(plan: Plan) -> frozenset[str]:
    written = (rule.path.base for rule in plan.rules if rule.access == "write" and rule.on != "macos")
    return frozenset(base for base in written if base is not None)


def _named(path: Path, params: Mapping[str, str | int], tree: frozenset[str]) -> str:
    return str(path) if path.base in tree else _filled(path, params)


def _filled(path: Path, params: Mapping[str, str | int]) -> str:
    if path.base is None or path.base not in params:
        return str(path)
    return (str(params[path.base]).rstrip("/") + path.rest) or "/"
