"""A small reader and evaluator of the SBPL that is emitted; it shares nothing with the emitter.

The operation tree is the shared reference's. Where the profile holds what is not known here, it raises.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

from tests.shared_data import shared


class Quoted(str):
    """A string, told apart from a bare word."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quoted) and str.__eq__(self, other)

    __hash__ = str.__hash__


Sexpr: TypeAlias = "str | tuple[Sexpr, ...]"


def read(text: str) -> tuple[Sexpr, ...]:
    """Read a profile: lists, words as `str`, strings as `Quoted`."""
    stack: list[list[Sexpr]] = [[]]
    i = 0
    while i < len(text):
        c = text[i]
        if c.isspace():
            i += 1
        elif c == ";":
            while i < len(text) and text[i] != "\n":
                i += 1
        elif c == "(":
            stack.append([])
            i += 1
        elif c == ")":
            done = tuple(stack.pop())
            stack[-1].append(done)
            i += 1
        elif c == '"':
            i += 1
            value = ""
            while text[i] != '"':
                if text[i] == "\\":
                    i += 1
                value += text[i]
                i += 1
            i += 1
            stack[-1].append(Quoted(value))
        else:
            start = i
            while i < len(text) and not text[i].isspace() and text[i] not in '();"':
                i += 1
            stack[-1].append(text[start:i])
    assert len(stack) == 1
    return tuple(stack[0])


class Rule(NamedTuple):
    action: str
    operations: tuple[str, ...]
    filters: tuple[Sexpr, ...]


@cache
def parents() -> Mapping[str, str | None]:
    return json.loads(shared("reference", "sbpl-operations.json").read_text())["parent"]


class Query(NamedTuple):
    """What is asked: a path, or the words of a target that is none."""

    operation: str
    path: str | None = None
    target: str | None = None
    remote: str | None = None
    local: str | None = None
    name: str | None = None


class Evaluator:
    def __init__(self, text: str, params: Mapping[str, str] | None = None) -> None:
        self.params = params or {}
        self.rules: list[Rule] = []
        nodes = read(text)
        assert nodes[0] == ("version", "1"), "no version"
        for node in nodes[1:]:
            self._top(node)

    def _top(self, node: Sexpr) -> None:
        match node:
            case ("allow" | "deny" as action, *rest):
                operations = tuple(item for item in rest if isinstance(item, str))
                assert operations
                for name in operations:
                    assert name in parents(), name
                self.rules.append(Rule(action, operations, tuple(item for item in rest if not isinstance(item, str))))
            case ("when", ("defined?", str() as name), inner):
                if name.removeprefix("'") in parents():
                    self._top(inner)
            case ("import", Quoted()):
                pass
            case _:
                raise AssertionError(node)

    def decide(self, query: Query) -> str:
        operation: str | None = query.operation
        while operation is not None:
            filtered = bare = None
            for rule in self.rules:
                if operation not in rule.operations:
                    continue
                if not rule.filters:
                    bare = rule
                elif any(self.matches(one, query) for one in rule.filters):
                    filtered = rule
            found = filtered or bare
            if found:
                return found.action
            operation = parents()[operation]
            if operation == "default" and _unreached(query.operation):
                return "allow"
        return "deny"

    def value(self, node: Sexpr) -> str:
        match node:
            case Quoted():
                return str(node)
            case ("param", Quoted() as name):
                return self.params[str(name)]
            case ("string-append", *parts):
                return "".join(self.value(part) for part in parts)
            case _:
                raise AssertionError(node)

    def matches(self, node: Sexpr, query: Query) -> bool:
        match node:
            case ("literal", *paths):
                return query.path is not None and any(same(self.value(p), query.path) for p in paths)
            case ("subpath", *paths):
                return query.path is not None and any(covers(self.value(p), query.path) for p in paths)
            case ("path-ancestors", path):
                own = self.value(path)
                return query.path is not None and own != query.path and covers(query.path, own)
            case ("regex", Quoted() as pattern):
                return query.path is not None and re.search(str(pattern), query.path) is not None
            case ("require-all", *inner):
                return all(self.matches(one, query) for one in inner)
            case ("require-any", *inner):
                return any(self.matches(one, query) for one in inner)
            case ("require-not", inner):
                return not self.matches(inner, query)
            case ("target", str() as word):
                return query.target == word or (word == "same-sandbox" and query.target == "self")
            case ("remote", "ip", Quoted() as address):
                return query.remote is not None and _address(str(address), query.remote)
            case ("local", "ip", Quoted() as address):
                # An unbound socket has no local address, so every connection matches.
                return (
                    query.local is None
                    if query.remote
                    else query.local is not None and _address(str(address), query.local)
                )
            case ("extension", Quoted()):
                return False
            case ("global-name" | "ipc-posix-name" | "sysctl-name", Quoted() as name):
                return query.name == str(name)
            case ("ipc-posix-name-prefix", Quoted() as name):
                return query.name is not None and query.name.startswith(str(name))
            case ("vnode-type", str()):
                return False
            case _:
                raise AssertionError(node)


def _unreached(operation: str) -> bool:
    """Tell whether a default of deny leaves an operation open."""
    known: list[str] = json.loads(shared("reference", "sbpl-operations.json").read_text())["not_reached_by_default"]
    name: str | None = operation
    while name is not None:
        if name in known:
            return True
        name = parents()[name]
    return False


def _address(pattern: str, address: str) -> bool:
    host, _, port = pattern.rpartition(":")
    other, _, other_port = address.rpartition(":")
    return (host == "*" or other in ("127.0.0.1", "[::1]")) and port in ("*", other_port)


def same(a: str, b: str) -> bool:
    return a.lower() == b.lower()


def covers(a: str, b: str) -> bool:
    a, b = a.lower().rstrip("/"), b.lower()
    return a == b or b.startswith(a + "/") or a == ""
