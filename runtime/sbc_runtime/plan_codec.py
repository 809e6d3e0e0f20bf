"""The plan in JSON: the codec of each form of `sbc_runtime.plan`, and what a single entry must obey."""

import re

from sbc_runtime.codec import BOOLEAN, Codec, integer, listed, optional, record, text, union, word
from sbc_runtime.plan import (
    Allowance,
    Environment,
    Identity,
    IdRange,
    Limit,
    Network,
    ParamRef,
    Path,
    PathRule,
    Pattern,
    Plan,
    ProcRule,
    Setting,
    StartIn,
    Statement,
    Tmp,
    Variable,
)

MAX_ID = 2**32 - 2
"""The largest uid or gid; 2^32 - 1 means `no change` to the kernel (setresuid(2))."""

MAX_AMOUNT = 2**63 - 1
"""The largest size, count or time."""

NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_-]*$"
_NAME = re.compile(NAME_PATTERN[1:-1])
_BLOCKS = (
    "syscalls", "files", "proc", "network", "environment", "identity", "limits", "process", "seatbelt", "containment",
)  # fmt: skip


def _name_fault(value: str) -> str | None:
    return None if _NAME.fullmatch(value) else "is not a name"


def _nul_fault(value: str) -> str | None:
    return "holds a NUL" if "\0" in value else None


def _parts_fault(value: str) -> str | None:
    if "\0" in value:
        return "holds a NUL"
    return "is not normalised" if any(part in {"", ".", ".."} for part in value.split("/")) else None


def path_fault(path: Path) -> str | None:
    """Say what is wrong with a path: it is absolute or begins with a parameter, and is normalised."""
    if path.rest == ("" if path.base else "/"):
        return None
    return _parts_fault(path.rest[1:]) if path.rest.startswith("/") else "is not absolute"


def _entry_fault(value: str) -> str | None:
    return _parts_fault(value) and f"is no entry of /proc: it {_parts_fault(value)}"


def _variable_fault(value: str) -> str | None:
    return "is not the name of a variable" if not value or "=" in value or "\0" in value else None


def _allowance_fault(value: Allowance) -> str | None:
    if value.verb == "unix":
        return None if value.path is not None and value.port is None else "has a path and no port"
    return "has no path" if value.path is not None else None


def _identity_fault(value: Identity) -> str | None:
    if isinstance(value.value, str | ParamRef):
        return None if value.key == "hostname" else "is a number"
    if isinstance(value.value, IdRange):
        return None if value.key == "host-user" else "is no range"
    return "is text" if value.key == "hostname" else None


def _limit_fault(value: Limit) -> str | None:
    return "is above zero" if value.value == 0 and value.key != "core-size" else None


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_integer(value: object) -> bool:
    return type(value) is int


def _is_reference(value: object) -> bool:
    return isinstance(value, dict) and "param" in value


def _is_range(value: object) -> bool:
    return isinstance(value, dict) and "first" in value


NAME: Codec[str] = text(_name_fault, pattern=NAME_PATTERN)
PLAIN: Codec[str] = text(_nul_fault)
STATEMENT: Codec[Statement] = record(
    Statement,
    block=word(*_BLOCKS),
    file=optional(PLAIN),
    line=optional(integer(1, MAX_AMOUNT)),
    text=text(),
    reason=text(),
)
REFERENCE: Codec[ParamRef] = record(ParamRef, param=NAME)
PATH: Codec[Path] = record(Path, path_fault, base=optional(NAME), rest=text())
ON: Codec[str | None] = optional(word("linux", "macos"))

_AMOUNT = union((int, _is_integer, integer(1, MAX_AMOUNT)), (ParamRef, _is_reference, REFERENCE))
_LIMIT = union((int, _is_integer, integer(0, MAX_AMOUNT)), (ParamRef, _is_reference, REFERENCE))
_TEXT = union((str, _is_text, PLAIN), (ParamRef, _is_reference, REFERENCE))
_ID = integer(0, MAX_ID)
_RANGE = record(IdRange, lambda ids: None if ids.first <= ids.last else "is inverted", first=_ID, last=_ID)
_IDENTITY = union(
    (int, _is_integer, _ID), (str, _is_text, PLAIN), (IdRange, _is_range, _RANGE), (ParamRef, _is_reference, REFERENCE)
)
_ALLOWANCE = record(
    Allowance,
    _allowance_fault,
    verb=word("connect", "bind", "unix"),
    port=optional(integer(1, 65535)),
    path=optional(PATH),
    on=ON,
    statement=STATEMENT,
)
_LIMIT_KEYS = ("wall", "cpu", "memory", "processes", "open-files", "file-size", "output", "core-size")

PLAN: Codec[Plan] = record(
    Plan,
    roots=listed(record(Setting, kind=word("private", "host"), on=ON, statement=STATEMENT)),
    rules=listed(
        record(
            PathRule,
            access=word("read", "write", "hide"),
            path=PATH,
            place=optional(PATH),
            optional=BOOLEAN,
            noexec=BOOLEAN,
            identity=optional(text()),
            on=ON,
            statement=STATEMENT,
        )
    ),
    tmps=listed(
        record(
            Tmp,
            path=PATH,
            size=optional(_AMOUNT),
            inodes=optional(_AMOUNT),
            noexec=BOOLEAN,
            on=ON,
            statement=STATEMENT,
        )
    ),
    devices=listed(record(Setting, kind=word("none", "minimal", "standard", "host"), on=ON, statement=STATEMENT)),
    start_in=listed(record(StartIn, path=optional(PATH), on=ON, statement=STATEMENT)),
    proc=listed(
        record(ProcRule, access=word("read-only", "hide"), entry=text(_entry_fault), on=ON, statement=STATEMENT)
    ),
    network=record(
        Network, mode=word("none", "host"), listed=BOOLEAN, allowances=listed(_ALLOWANCE), statement=STATEMENT
    ),
    environment=record(
        Environment,
        patterns=listed(
            record(Pattern, verb=word("keep", "drop"), pattern=text(_variable_fault), on=ON, statement=STATEMENT)
        ),
        variables=listed(record(Variable, name=text(_variable_fault), value=_TEXT, on=ON, statement=STATEMENT)),
    ),
    identity=listed(
        record(
            Identity,
            _identity_fault,
            key=word("user", "group", "host-user", "host-group", "hostname"),
            value=_IDENTITY,
            on=ON,
            statement=STATEMENT,
        )
    ),
    limits=listed(record(Limit, _limit_fault, key=word(*_LIMIT_KEYS), value=_LIMIT, on=ON, statement=STATEMENT)),
    containment=listed(record(Setting, kind=word("required"), on=ON, statement=STATEMENT)),
)
