"""Feeds the evaluator with damaged and invented profiles: `python -m tests.seatbelt.fuzz SECONDS [SEED]`.

Whatever goes in, rules or one error with a place must come out, and soon. Anything else is printed, and exit is 1.
"""

import json
import random
import sys
import time
import traceback
from collections import Counter

from sbc.diagnostics.diagnostic import Failed
from sbc.diagnostics.span import Source
from sbc.seatbelt.decide import decide
from sbc.seatbelt.library import fixed_names
from sbc.seatbelt.load import load
from tests.seatbelt.test_corpora import PARAMS, QUESTIONS
from tests.shared_data import shared

SLOW = 15.0
"""Seconds of one profile from which on it is reported."""

_WORDS = r"""
( ) " #" ' ` , ,@ . #t #f #\a \ ; #! (define (f x) (f x)) (f 1) (require-not (require-all (require-any (let loop ((i 0))
(loop (+ i 1)) (apply (map (lambda (x) x) (with-filter (with no-log) (param "X") (subpath (regex #"(a*)*b$")
(literal "/a") (allow file-read* (deny default) (import "x") 0 -1 99999999999999999999 "/tmp\x2f" (string-append
(list 'quote x) (macro (m form) form) (m 1) (vnode-type DIRECTORY) (remote ip "localhost:*") [ ] { } | * + ? ^ $
"""

_PIECES = (*_WORDS.split(), "é", "\0", "\ud800", "\udc80", "\n(")


def seeds() -> list[str]:
    """Give profiles to damage."""
    corpus = shared("corpora", "sbpl")
    texts = [path.read_text("utf-8") for path in sorted(corpus.rglob("*.sb*")) if path.stat().st_size < 30_000]
    rows = shared("cases", "sbpl-verdicts.jsonl").read_text("utf-8").splitlines()
    return texts + [json.loads(row)["profile"] for row in rows if row]


def damaged(text: str, others: list[str], dice: random.Random) -> str:
    """Change a text in a few places."""
    for _ in range(dice.randint(1, 6)):
        at, end = dice.randrange(len(text) + 1), 0
        match dice.randrange(6):
            case 0:
                text = text[:at] + dice.choice(_PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + dice.randint(1, 12) :]
            case 2:
                other = dice.choice(others)
                start = dice.randrange(len(other) + 1)
                text = text[:at] + other[start : start + dice.randint(1, 300)] + text[at:]
            case 3:
                end = min(len(text), at + dice.randint(1, 200))
                text = text[:end] + text[at:end] * dice.randint(1, 4) + text[end:]
            case 4:
                text = text[:at] + chr(dice.choice((0, 34, 40, 41, 92, 128, 0x2028, dice.randrange(0x500)))) + text[at:]
            case _:
                text = "(version 1)" + " ".join(dice.choices(_PIECES, k=dice.randint(1, 40)))
    return text


_LEAVES = (
    '"/a"',
    '"/a/b"',
    '#"^/a(b|c)*"',
    '"localhost:*"',
    "0",
    "1",
    "-3",
    "#t",
    "#f",
    "()",
    "x",
    "f",
    "'x",
    "#\\a",
    '"k"',
)


def invented(names: list[str], dice: random.Random) -> str:
    """Make a profile of well-formed forms that use every name there is."""

    def form(depth: int) -> str:
        if depth <= 0 or dice.random() < 0.3:
            return dice.choice(_LEAVES) if dice.random() < 0.6 else dice.choice(names)
        parts = [form(depth - 1) for _ in range(dice.randint(0, 4))]
        return f"{dice.choice(('', '', '', chr(96), chr(39)))}({dice.choice(names)} {' '.join(parts)})"

    defined = f"(define x {form(2)})(define (f . x) {form(3)})"
    rules = [f"(allow {dice.choice(names)} {form(4)})" for _ in range(3)]
    return "(version 1)" + defined * dice.randint(0, 1) + " ".join((form(5), *rules, form(4)))


def _report(what: str, text: str, more: str = "") -> None:
    sys.stdout.write(f"{what}: {text[:2000]!r}\n{more}")


def main() -> int:
    """Fuzz for so long, and print what came of it."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    dice = random.Random(seed)  # noqa: S311 (no secret)
    texts = seeds()
    names = sorted(fixed_names()) + ["allow", "deny", "with", "param", "import", "with-filter", "with-modifier"] * 20
    counts: Counter[str] = Counter()
    slowest = 0.0
    bad = 0
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        text = invented(names, dice) if dice.random() < 0.6 else damaged(dice.choice(texts), texts, dice)
        started = time.process_time()
        try:
            profile = load(Source("fuzz.sb", text), PARAMS)
            counts["loaded"] += 1
            for operation, target in QUESTIONS:
                try:
                    counts[decide(profile, operation, target).decision] += 1
                except Failed as failed:
                    counts[f"answer {failed.diagnostics[0].code}"] += 1
        except Failed as failed:
            (one,) = failed.diagnostics
            counts[one.code] += 1
            if one.span is None or not one.title():
                bad += 1
                _report("no place", text)
        except BaseException:
            bad += 1
            _report("escaped", text, traceback.format_exc(limit=-4))
            if not isinstance(sys.exc_info()[1], Exception):
                raise
        took = time.process_time() - started
        slowest = max(slowest, took)
        if took > SLOW:
            bad += 1
            _report(f"slow, {took:.1f} s", text)
        counts["profiles"] += 1
    sys.stdout.write(f"seed {seed}: {counts['profiles']} profiles, slowest {slowest:.2f} s, {bad} bad" + "\n")
    sys.stdout.write(", ".join(f"{name} {count}" for name, count in sorted(counts.items())) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
