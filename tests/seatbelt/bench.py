"""Times the evaluator on the largest public profile: `python -m tests.seatbelt.bench`."""

import sys
import time

from sbc.diagnostics.diagnostic import Failed
from sbc.seatbelt.decide import decide
from sbc.seatbelt.load import load
from tests.seatbelt.test_corpora import PARAMS, QUESTIONS
from tests.shared_data import shared

QUERIES = 1000


def main() -> None:
    """Print processor time of loading, and of a thousand different queries."""
    path = max(shared("corpora", "sbpl", "assembled").iterdir(), key=lambda path: path.stat().st_size)
    started = time.process_time()
    profile = load(path, PARAMS)
    ready = time.process_time()
    none = 0
    for number in range(QUERIES):
        operation, target = QUESTIONS[number % len(QUESTIONS)]
        if target.startswith("/"):
            target = f"{target}/{number}".replace("//", "/")
        try:
            decide(profile, operation, target)
        except Failed:
            none += 1
    ended = time.process_time()
    size = path.stat().st_size
    loading, asking = (ready - started) * 1000, (ended - ready) * 1000
    sys.stdout.write(f"{path.name}: {size} bytes, {len(profile.rules)} rules\n")
    sys.stdout.write(f"load {loading:.0f} ms; {QUERIES} queries {asking:.0f} ms ({none} unanswered)\n")


if __name__ == "__main__":
    main()
