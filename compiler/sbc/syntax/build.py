"""Rules of the grammar -> nodes of the tree: one method for each rule, by its name in `grammar/sbx.lark`.

A method gets the values of the rule's parts (keywords and marks that carry no meaning left out), and where the rule
starts and ends. What stands in lists was melted into the values by the grammar.
"""

from typing import Any

from sbc.diagnostics.catalogue.syntax import SaidTwice
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Source, Span
from sbc.syntax import tree
from sbc.syntax.lexer import Token
from sbc.syntax.reasons import reason_above
from sbc.syntax.words import Words

_PATH_TYPES = ("dir", "file", "path")


class Builder:
    """Makes the nodes of one source; `braces` holds where each `{` stands that opens statements, not a set."""

    def __init__(self, source: Source, reporter: Reporter) -> None:
        self.source = source
        self.reporter = reporter
        self.words = Words(source, reporter)
        self.braces: list[int] = []
        self._methods: dict[str, Any] = {}

    def build(self, action: str, parts: list[Any], start: int, end: int) -> object:
        """Make the value of the rule `action`."""
        method = self._methods.get(action)
        if method is None:
            method = self._methods[action] = getattr(self, f"_{action}")
        return method(parts, Span(self.source, start, end))

    def _reason(self, span: Span) -> str:
        return reason_above(self.source.text, span.start)

    # ---- words and values ----------------------------------------------------------------------------------------

    def _word(self, parts: list[Token], span: Span) -> tree.Word:
        return tree.Word(parts[0].text, span)

    def _number(self, parts: list[Token], _span: Span) -> tree.Number:
        return self.words.number(parts[0])

    def _size(self, parts: list[Token], _span: Span) -> tree.Size:
        return self.words.size(parts[0])

    def _duration(self, parts: list[Token], _span: Span) -> tree.Duration:
        return self.words.duration(parts[0])

    def _text(self, parts: list[Token], _span: Span) -> tree.Text:
        return self.words.text(parts[0])

    def _path(self, parts: list[Token], _span: Span) -> tree.Path:
        return self.words.path(parts[0])

    def _param_ref(self, parts: list[Token], span: Span) -> tree.ParamRef:
        return tree.ParamRef(parts[0].text[2:-1], span)

    def _group_ref(self, parts: list[Token], span: Span) -> tree.GroupRef:
        return tree.GroupRef(parts[0].text[1:], span)

    def _constant(self, parts: list[Any], span: Span) -> tree.Constant:
        return tree.Constant(tuple(parts), span)

    def _set_of(self, parts: list[Any], span: Span) -> tree.SetOf:
        return tree.SetOf(tuple(parts), span)

    def _range(self, parts: list[Any], span: Span) -> tree.Range:
        return tree.Range(parts[0], parts[1], span)

    def _number_range(self, parts: list[tree.Number], span: Span) -> tree.Range:
        low, high = (tree.Constant((number,), number.span) for number in parts)
        return tree.Range(low, high, span)

    # ---- the top level -------------------------------------------------------------------------------------------

    def _start(self, parts: list[Any], _span: Span) -> tree.SourceTree:
        version, *items = parts
        return tree.SourceTree(version, tuple(items), Span(self.source, 0, len(self.source.text)))

    def _version(self, parts: list[tree.Number], _span: Span) -> tree.Number:
        return parts[0]

    def _use(self, parts: list[Token], span: Span) -> tree.Use:
        token = parts[0]
        if token.shape == "string":
            return tree.Use(self.words.text(token), span)
        return tree.Use(tree.StockRef(token.text[1:-1], Span(self.source, token.start, token.end)), span)

    def _group(self, parts: list[Any], span: Span) -> tree.Group:
        return tree.Group(parts[0], tuple(parts[1:]), self._reason(span), span)

    def _rules(self, parts: list[Any], span: Span) -> tree.RulesDefinition:
        return tree.RulesDefinition(parts[0], tuple(parts[2:]), self._reason(span), span)

    def _profile(self, parts: list[Any], span: Span) -> tree.Profile:
        name, *rest = parts
        extends = rest.pop(0) if isinstance(rest[0], tree.Word) else None
        params = tuple(part for part in rest if isinstance(part, tree.ParamDeclaration))
        blocks = tuple(part for part in rest if isinstance(part, tree.Block))
        return tree.Profile(name, extends, params, blocks, self._reason(span), span)

    def _param(self, parts: list[Any], span: Span) -> tree.ParamDeclaration:
        name, kind, *rest = parts
        default = rest[0] if rest else None
        if isinstance(default, Token):  # a string: what it is depends on the type
            default = self.words.path(default) if kind.text in _PATH_TYPES else self.words.text(default)
        return tree.ParamDeclaration(name, kind, default, self._reason(span), span)

    def _brace(self, _parts: list[Any], span: Span) -> None:
        self.braces.append(span.start)

    def _block(self, parts: list[Any], span: Span) -> tree.Block:
        keyword, *rest = parts
        word = tree.Word(keyword.text, Span(self.source, keyword.start, keyword.end))
        mode = rest.pop(0) if rest and isinstance(rest[0], tree.Word) else None
        body = tuple(rest[1:]) if rest else None  # rest[0] stands for the brace
        return tree.Block(word, mode, body, self._reason(span), span)

    def _on_system(self, parts: list[Any], span: Span) -> tree.OnSystem:
        return tree.OnSystem(parts[0], tuple(parts[2:]), self._reason(span), span)

    # ---- files ---------------------------------------------------------------------------------------------------

    def _modifiers(self, parts: list[Any]) -> dict[str, Any]:
        """Give the modifiers of a statement by their words; the value of one without is True."""
        found: dict[str, Any] = {}
        places: dict[str, Span] = {}
        for keyword, value in parts:
            place = Span(self.source, keyword.start, keyword.end)
            if keyword.text in found:
                self.reporter.add(SaidTwice(place, keyword.text, places[keyword.text]))
            found[keyword.text] = value
            places[keyword.text] = place
        return found

    def _path_modifier(self, parts: list[Any], _span: Span) -> tuple[Token, Any]:
        value = parts[1] if len(parts) > 1 else True
        return parts[0], self.words.text(value) if isinstance(value, Token) else value

    _tmp_modifier = _path_modifier

    def _root(self, parts: list[Any], span: Span) -> tree.RootStatement:
        return tree.RootStatement(parts[0], self._reason(span), span)

    def _path_statement(self, parts: list[Any], span: Span) -> tree.PathStatement:
        verb, *rest = parts
        paths = tuple(part for part in rest if not isinstance(part, tuple))
        said = self._modifiers([part for part in rest if isinstance(part, tuple)])
        return tree.PathStatement(
            verb.text,
            paths,
            place=said.get("as"),
            identity=said.get("identity"),
            optional="optional" in said,
            noexec="noexec" in said,
            reason=self._reason(span),
            span=span,
        )

    def _tmp(self, parts: list[Any], span: Span) -> tree.TmpStatement:
        said = self._modifiers(parts[1:])
        return tree.TmpStatement(
            parts[0], said.get("size"), said.get("inodes"), "noexec" in said, self._reason(span), span
        )

    def _devices(self, parts: list[Any], span: Span) -> tree.DevicesStatement:
        return tree.DevicesStatement(parts[0], self._reason(span), span)

    def _start_in(self, parts: list[Any], span: Span) -> tree.StartInStatement:
        return tree.StartInStatement(parts[0], self._reason(span), span)

    # ---- the small blocks ----------------------------------------------------------------------------------------

    def _proc_statement(self, parts: list[Any], span: Span) -> tree.ProcStatement:
        return tree.ProcStatement(parts[0].text, tuple(parts[1:]), self._reason(span), span)

    def _local_statement(self, parts: list[Any], span: Span) -> tree.LocalStatement:
        return tree.LocalStatement(parts[0].text, parts[1], parts[2], self._reason(span), span)

    def _port(self, parts: list[Token], span: Span) -> tree.Number | tree.Word:
        return tree.Word("*", span) if parts[0].text == "*" else self.words.number(parts[0])

    def _unix_statement(self, parts: list[Any], span: Span) -> tree.UnixStatement:
        return tree.UnixStatement(parts[0], self._reason(span), span)

    def _pattern_statement(self, parts: list[Any], span: Span) -> tree.PatternStatement:
        return tree.PatternStatement(parts[0].text, tuple(parts[1:]), self._reason(span), span)

    def _set_statement(self, parts: list[Any], span: Span) -> tree.SetStatement:
        return tree.SetStatement(parts[0], parts[1], self._reason(span), span)

    def _value_statement(self, parts: list[Any], span: Span) -> tree.ValueStatement:
        return tree.ValueStatement(parts[0], parts[1], self._reason(span), span)
