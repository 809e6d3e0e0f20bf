"""`python -m tests.verified RESULTS... [--update DOCUMENT]`: print the table, or put it into a document."""

import sys
from argparse import ArgumentParser
from pathlib import Path

from tests.verified.results import read
from tests.verified.table import Unheld, lines, replaced


def main() -> int:
    """Make the table; exit status 1 where a claim is not held."""
    parser = ArgumentParser(prog="python -m tests.verified", description=__doc__)
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--update", type=Path, metavar="DOCUMENT")
    asked = parser.parse_args()
    try:
        table = list(lines(read(asked.results)))
    except Unheld as error:
        sys.stderr.write(f"not held: {error}\n")
        return 1
    if asked.update is None:
        sys.stdout.write("".join(f"{line}\n" for line in table))
    else:
        asked.update.write_text(replaced(asked.update.read_text(encoding="utf-8"), table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
