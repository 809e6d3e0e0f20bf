"""A fuzzer of the front end: runs for some minutes and tells what it found.

It keeps a pool of texts; each round changes one of them, and a text that makes the parser complain in a new way (other
diagnostics, by code and words without names) joins the pool. Every finding is printed as the text that gives it
again; the exit status is 1 where there was one. The same seed tries the same texts.
"""

import argparse
import random
import re
import sys
import time
import traceback

from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Source
from sbc.syntax.parser import parse_tokens
from tests.fuzz.checks import check
from tests.fuzz.texts import mutate, mutated, shuffled

_POOL = 4000
_SLOW = 1.0
"""A text of some kilobytes that takes longer (in seconds of CPU time) is a finding."""


def main() -> int:
    """Fuzz for the time asked for; give the exit status."""
    arguments = argparse.ArgumentParser(description="Fuzz the parser, the formatter and the rendering of errors.")
    arguments.add_argument("--minutes", type=float, default=10)
    arguments.add_argument("--seed", type=int, default=None, help="try the texts of this run again")
    chosen = arguments.parse_args()
    pool: dict[frozenset[str], str] = {}
    seed = random.SystemRandom().randrange(1 << 48) if chosen.seed is None else chosen.seed
    _say(f"seed {seed}")
    source = random.Random(seed)  # noqa: S311 - its use is that a run can be repeated
    findings = runs = profiles = 0
    end = time.monotonic() + chosen.minutes * 60
    while time.monotonic() < end:
        text = _text(source, pool)
        runs += 1
        begin = time.process_time()
        try:
            profiles += check(text)
            slow = time.process_time() - begin > _SLOW
        except Exception:
            findings += 1
            slow = False
            _say(f"--- finding {findings} in run {runs}\n{text!r}\n{traceback.format_exc()}")
        if slow:
            findings += 1
            _say(f"--- finding {findings} in run {runs}: slow\n{text!r}")
        _keep(source, pool, text)
    _say(f"{runs} texts, {profiles} of them profiles, {len(pool)} ways of complaining, {findings} findings")
    return 1 if findings else 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _text(source: random.Random, pool: dict[frozenset[str], str]) -> str:
    way = source.random()
    if way < 0.25:
        return mutated(source)
    if way < 0.4 or not pool:
        return shuffled(source)
    text = source.choice(list(pool.values())) if len(pool) < 50 else pool[source.choice(_keys(pool))]
    return mutate(text, source)[:20_000]


_known_keys: list[frozenset[str]] = []


def _keys(pool: dict[frozenset[str], str]) -> list[frozenset[str]]:
    if len(_known_keys) != len(pool):
        _known_keys[:] = pool
    return _known_keys


def _keep(source: random.Random, pool: dict[frozenset[str], str], text: str) -> None:
    """Put a text into the pool where it is the first, or the shortest, with its diagnostics."""
    reporter = Reporter()
    try:
        parse_tokens(Source("fuzz.sbx", text), reporter)
    except Exception:
        return
    said = frozenset(f"{d.code} {re.sub(r'`[^`]*`', '`', d.title())} {d.label()}" for d in reporter.diagnostics)
    if said in pool:
        if len(text) < len(pool[said]) or source.random() < 0.02:
            pool[said] = text
    elif len(pool) < _POOL:
        pool[said] = text


if __name__ == "__main__":
    sys.exit(main())
