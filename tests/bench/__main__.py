"""Print every figure beside its bar and its peers: `python -m tests.bench`. Exit status 1 where a bar is missed."""

import sys

from tests.shared_data import ROOT

sys.path[:0] = [str(ROOT / "compiler"), str(ROOT / "runtime")]


def main() -> int:
    """Measure and print."""
    from tests.bench.figures import ROWS
    from tests.bench.row import Row

    rows = [Row("figure", "sbc", "bar", None, "peers"), *(row for make in ROWS for row in make())]
    mark = {True: "ok", False: "MISSED", None: ""}
    columns = [(row.what, row.ours, row.bar, mark[row.met], row.peers) for row in rows]
    widths = [max(map(len, column)) for column in zip(*columns, strict=True)]
    for cells in columns:
        line = "  ".join(text.ljust(width) for text, width in zip(cells, widths, strict=True))
        sys.stdout.write(line.rstrip() + "\n")
    return int(any(row.met is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
