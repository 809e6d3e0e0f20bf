"""Parameters: their declarations along a chain, and the places where each may stand."""

from sbc.diagnostics.catalogue import params as problems
from sbc.diagnostics.catalogue.names import with_article
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Span
from sbc.policy.origin import Block, Origin
from sbc.policy.policy import Override
from sbc.policy.values import BUILT_IN, Param, ParamType, ParamValue, PathValue
from sbc.resolve.chain import Level
from sbc.resolve.origins import origin_of
from sbc.resolve.spelled import rest_of
from sbc.syntax import tree

PATH_TYPES: tuple[ParamType, ...] = ("dir", "file", "path")
_TYPES: dict[str, tuple[ParamType, Block]] = {
    "dir": ("dir", "files"),
    "file": ("file", "files"),
    "path": ("path", "files"),
    "text": ("text", "environment"),
    "size": ("size", "limits"),
    "duration": ("duration", "limits"),
    "integer": ("integer", "limits"),
}


class Params:
    """The parameters of a chain of profiles; remembers which ones were used."""

    def __init__(self, levels: list[Level], overrides: list[Override], reporter: Reporter) -> None:
        self._reporter = reporter
        self._declared: dict[str, tuple[Param, Span, Origin]] = {}
        self._used: set[str] = set()
        for level in levels:
            here: dict[str, Span] = {}
            for declaration in level.profile.params:
                self._declare(declaration, here, overrides)

    def _declare(self, written: tree.ParamDeclaration, here: dict[str, Span], overrides: list[Override]) -> None:
        name = written.name.text
        kind, block = _TYPES[written.type.text]
        origin = origin_of(block, written)
        first = here.setdefault(name, written.name.span)
        if name in BUILT_IN:
            self._reporter.add(problems.ReservedParam(written.name.span, name))
        elif first is not written.name.span:
            self._reporter.add(problems.RepeatedParam(written.name.span, name, first))
        elif name in self._declared:
            overrides.append(Override(self._declared[name][2], origin))
        else:
            param = Param(name, kind, self._default(written, kind), written.reason)
            self._declared[name] = param, written.name.span, origin

    def _default(self, written: tree.ParamDeclaration, kind: ParamType) -> "int | str | None":
        match written.default, kind:
            case None, _:
                return None
            case tree.Text(value=value), "text":
                return value
            case (tree.Size(value=value), "size") | (tree.Duration(value=value), "duration"):
                return value
            case tree.Number(value=value), "integer":
                return value
            case tree.Path(base=None, rest=spelled), "dir" | "file" | "path":
                return rest_of(spelled, written.default.span, self._reporter)
            case _:
                based = isinstance(written.default, tree.Path) and kind in PATH_TYPES
                self._reporter.add(problems.ParamDefault(written.default.span, kind, based))
                return None

    def typed(self, ref: tree.ParamRef, kind: ParamType) -> ParamValue | None:
        """Give the value of a parameter of one type; None where it is none, which has then been told."""
        return ParamValue(ref.name) if self._is(ref.name, ref.span, (kind,), with_article(kind)) else None

    def default_of(self, name: str) -> "int | str | None":
        """Give the default of a parameter; None where it has none, or the loader fills it in."""
        return self._declared[name][0].default if name in self._declared else None

    def path(self, path: tree.Path) -> PathValue | None:
        """Give a path, normalised; None where it is wrong, which has then been told."""
        if path.base is None:
            rest = rest_of(path.rest, path.span, self._reporter)
            return None if rest is None else PathValue(None, rest)
        if path.base in BUILT_IN:
            pass
        elif not self._is(path.base, path.span, PATH_TYPES, "a path"):
            return None
        elif self._declared[path.base][0].type == "file" and path.rest.strip("/"):
            self._reporter.add(problems.BelowFile(path.span, path.base, self._declared[path.base][1]))
            return None
        rest = rest_of(path.rest, path.span, self._reporter) if path.rest else ""
        return None if rest is None else PathValue(path.base, "" if rest == "/" else rest)

    def _is(self, name: str, span: Span, kinds: tuple[ParamType, ...], wanted: str) -> bool:
        if name in BUILT_IN:
            self._reporter.add(problems.ParamPlace(span, name, "dir", wanted, None))
            return False
        if name not in self._declared:
            near = self._reporter.closest(name, [*self._declared, *BUILT_IN])
            self._reporter.add(problems.UnknownParam(span, name, near))
            return False
        self._used.add(name)
        param, declared, _ = self._declared[name]
        if param.type not in kinds:
            self._reporter.add(problems.ParamPlace(span, name, param.type, wanted, declared))
            return False
        return True

    def all(self) -> tuple[Param, ...]:
        """Give every parameter; tells those that nothing used."""
        for name, (_, span, _) in self._declared.items():
            if name not in self._used:
                self._reporter.add(problems.UnusedParam(span, name))
        return tuple(param for param, _, _ in self._declared.values())
