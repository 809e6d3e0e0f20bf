"""Searches a text by a program of `regex`, in time proportional to text times program, whatever the pattern.

All places of the program are followed at once; what a set of places becomes by a character is remembered.
"""

from typing import Final

from sbc.seatbelt.regex import Code, Op
from sbc.seatbelt.verdict import Meter

_REMEMBERED: Final = 4096

_Places = frozenset[int]


class Automaton:
    """A program, ready to search; `folded` takes ASCII letters of either case for each other."""

    def __init__(self, code: Code, *, folded: bool) -> None:
        self._code = code
        self._folded = folded
        self._first = self._closure([0], start=True, end=False)
        self._again = self._closure([0], start=False, end=False)
        self._known: dict[tuple[_Places, str], _Places] = {}

    def finds(self, text: str, meter: Meter) -> bool:
        """Tell whether some part of the text matches."""
        places = self._first
        for character in text:
            if self._matched(places):
                return True
            key = (places, character)
            following = self._known.get(key)
            meter.take(1)
            if following is None:
                meter.take(len(places) + len(self._again))
                following = self._after(places, character)
                if len(self._known) < _REMEMBERED:
                    self._known[key] = following
            places = following
        if self._matched(places):
            return True
        return self._matched(self._closure(list(places), start=not text, end=True))

    def _matched(self, places: _Places) -> bool:
        # The program's only MATCH is its last instruction.
        return len(self._code) - 1 in places

    def _after(self, places: _Places, character: str) -> _Places:
        codes = {ord(character)}
        if self._folded:
            codes |= {ord(c) for c in (character.lower(), character.upper()) if len(c) == 1 and c.isascii()}
        moved = [place + 1 for place in places if self._takes(place, codes)]
        return self._closure(moved, start=False, end=False) | self._again if moved else self._again

    def _takes(self, place: int, codes: set[int]) -> bool:
        instruction = self._code[place]
        if instruction.op is Op.SET:
            return any(low <= code <= high for code in codes for low, high in instruction.ranges)
        if instruction.op is Op.OTHER:
            return not any(low <= code <= high for code in codes for low, high in instruction.ranges)
        return False

    def _closure(self, places: list[int], *, start: bool, end: bool) -> _Places:
        """Follow what takes no character; an END that is not reached yet stays as a place."""
        seen: set[int] = set()
        kept: set[int] = set()
        waiting = places
        while waiting:
            place = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            instruction = self._code[place]
            match instruction.op:
                case Op.SPLIT:
                    waiting += (place + instruction.first, place + instruction.second)
                case Op.JUMP:
                    waiting.append(place + instruction.first)
                case Op.START:
                    if start:
                        waiting.append(place + 1)
                case Op.END:
                    if end:
                        waiting.append(place + 1)
                    else:
                        kept.add(place)
                case _:
                    kept.add(place)
        return frozenset(kept)
