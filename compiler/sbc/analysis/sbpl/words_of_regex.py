"""A text that a regular expression finds, short and in plain characters."""

from collections import deque
from typing import NamedTuple

from sbc.seatbelt.regex import Instruction, Op, program

_PLAIN = "aA0/-_. "
_LONGEST = 200
"""Characters that are looked for beyond the beginning."""


class _State(NamedTuple):
    at: int
    text: str
    ended: bool


def shortest(pattern: str, beginning: str = "") -> str | None:
    """Give a shortest text that begins in a certain way and that the expression finds.

    None where there is none, or where that is not known. Takes steps in proportion to the product of both lengths.
    """
    try:
        code = program(pattern)
    except ValueError:
        return None
    # A search may begin anywhere: what stands before that is skipped.
    waiting = deque(_State(0, beginning[:skipped], False) for skipped in range(len(beginning) + 1))
    seen: set[tuple[int, int, bool]] = set()
    while waiting:
        state = waiting.popleft()
        at, text, ended = state
        key = (at, min(len(text), len(beginning) + 1), ended)
        if key in seen or len(text) > len(beginning) + _LONGEST:
            continue
        seen.add(key)
        one = code[at]
        if one.op is Op.MATCH:
            if len(text) >= len(beginning):
                return text
            if not ended:
                return beginning
        elif one.op in (Op.SET, Op.OTHER):
            taken = None if ended else _taken(one, beginning[len(text) : len(text) + 1])
            if taken is not None:
                waiting.append(_State(at + 1, text + taken, ended))
        else:
            waiting.extendleft(reversed(_after(one, state)))
    return None


def _after(one: Instruction, state: _State) -> list[_State]:
    """Give where it goes on after an instruction that takes no character."""
    match one.op:
        case Op.SPLIT:
            return [state._replace(at=state.at + one.first), state._replace(at=state.at + one.second)]
        case Op.JUMP:
            return [state._replace(at=state.at + one.first)]
        case Op.START:
            return [] if state.text else [state._replace(at=state.at + 1)]
        case _:
            return [state._replace(at=state.at + 1, ended=True)]


def _taken(one: Instruction, only: str) -> str | None:
    """Give a character that an instruction takes: that one, if one is given; else a plain one if there is any."""

    def held(sign: str) -> bool:
        return any(low <= ord(sign) <= high for low, high in one.ranges)

    wanted = one.op is Op.SET
    found = next((sign for sign in only or _PLAIN if held(sign) is wanted), None)
    if found is not None or only or not wanted:
        return found
    return chr(one.ranges[0][0]) if one.ranges else None
