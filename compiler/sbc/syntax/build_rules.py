"""The methods of `build.py` for calls, conditions and the seatbelt block."""

from typing import Any

from sbc.diagnostics.span import Span
from sbc.syntax import tree
from sbc.syntax.build import Builder
from sbc.syntax.lexer import Token


class RuleBuilder(Builder):
    """Makes every node of the language."""

    # ---- syscalls ------------------------------------------------------------------------------------------------

    def _verdict(self, parts: list[Any], span: Span) -> tree.VerdictWord:
        return tree.VerdictWord(parts[0].text, parts[1] if len(parts) > 1 else None, span)

    def _call_rule(self, parts: list[Any], span: Span) -> tree.CallRule:
        verdict, *calls = parts
        guard = calls.pop() if calls and isinstance(calls[-1], tree.Guard) else None
        return tree.CallRule(verdict, tuple(calls), guard, self._reason(span), span)

    def _abi_list(self, parts: list[Any], span: Span) -> tree.AbiList:
        return tree.AbiList(tuple(parts), self._reason(span), span)

    def _joined_abis(self, parts: list[tree.Word], _span: Span) -> tuple[tree.Word, ...]:
        return tuple(parts)

    _abi_names = _joined_abis

    def _foreign_abi(self, parts: list[Any], span: Span) -> tree.ForeignAbi:
        return tree.ForeignAbi(parts[0], self._reason(span), span)

    def _default_verdict(self, parts: list[Any], span: Span) -> tree.DefaultVerdict:
        return tree.DefaultVerdict(parts[0], self._reason(span), span)

    def _newer_than(self, parts: list[Any], span: Span) -> tree.NewerThan:
        version: Token = parts[0]
        word = tree.Word(version.text, Span(self.source, version.start, version.end))
        return tree.NewerThan(word, parts[1], self._reason(span), span)

    def _include(self, parts: list[Any], span: Span) -> tree.Include:
        return tree.Include(parts[0], self._reason(span), span)

    def _on_abis(self, parts: list[Any], span: Span) -> tree.OnAbis:
        return tree.OnAbis(parts[0], tuple(parts[2:]), self._reason(span), span)

    # ---- conditions ----------------------------------------------------------------------------------------------

    def _guard(self, parts: list[Any], span: Span) -> tree.Guard:
        return tree.Guard(parts[0].text, parts[1], span)

    def _disjunction(self, parts: list[Any], span: Span) -> tree.Disjunction:
        return tree.Disjunction(tuple(parts), span)

    def _conjunction(self, parts: list[Any], span: Span) -> tree.Conjunction:
        return tree.Conjunction(tuple(parts), span)

    def _negation(self, parts: list[Any], span: Span) -> tree.Negation:
        return tree.Negation(parts[0], span)

    def _subject(self, parts: list[tree.Word], span: Span) -> tree.Subject:
        return tree.Subject(parts[0].text, parts[1] if len(parts) > 1 else None, span)

    def _compare(self, parts: list[Any], span: Span) -> tree.Compare:
        return tree.Compare(parts[0], parts[1].text, parts[2], span)

    def _member(self, parts: list[Any], span: Span) -> tree.Member:
        return tree.Member(parts[0], parts[1], span)

    def _mask_equal(self, parts: list[Any], span: Span) -> tree.MaskEqual:
        return tree.MaskEqual(parts[0], parts[1], parts[2], span)

    def _has(self, parts: list[Any], span: Span) -> tree.Has:
        return tree.Has(parts[0], parts[1].text, parts[2], span)

    # ---- seatbelt ------------------------------------------------------------------------------------------------

    def _seatbelt_default(self, parts: list[Any], span: Span) -> tree.SeatbeltDefault:
        return tree.SeatbeltDefault(parts[0], self._reason(span), span)

    def _seatbelt_rule(self, parts: list[Any], span: Span) -> tree.SeatbeltRule:
        action, *rest = parts
        operations = tuple(part for part in rest if isinstance(part, tree.Word))
        filters = tuple(part for part in rest if isinstance(part, tree.SeatbeltFilter))
        return tree.SeatbeltRule(action.text, operations, filters, self._reason(span), span)

    def _seatbelt_import(self, parts: list[Any], span: Span) -> tree.SeatbeltImport:
        return tree.SeatbeltImport(parts[0], self._reason(span), span)

    def _plain_filter(self, parts: list[Any], span: Span) -> tree.SeatbeltFilter:
        return tree.SeatbeltFilter(parts[0], tuple(parts[1:]), (), span)

    def _nested_filter(self, parts: list[Any], span: Span) -> tree.SeatbeltFilter:
        return tree.SeatbeltFilter(parts[0], (), tuple(parts[2:]), span)
