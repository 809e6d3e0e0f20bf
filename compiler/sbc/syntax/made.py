"""Makes the data that a wheel carries beside the grammar: tables and trees."""

from pathlib import Path

from sbc.data import profiles_folder
from sbc.diagnostics.diagnostic import Reporter
from sbc.syntax import stored, tables
from sbc.syntax.parser import build_tables, parse_tokens
from sbc.syntax.reading import read_source


def write(folder: Path) -> None:
    """Write the tables of the grammar and the trees of the stock library into a folder, as a wheel has them.

    `Failed` where a file of the library has an error.
    """
    grammar = tables.grammar_text()
    trees = folder / stored.FOLDER
    trees.mkdir(parents=True, exist_ok=True)
    (folder / tables.NAME).write_bytes(tables.encode(build_tables(grammar), grammar))
    reporter = Reporter()
    for path in sorted((profiles_folder() / "lib").glob("*.sbx")):
        source = read_source(path, f"<{path.stem}>", reporter)
        parsed = source and parse_tokens(source, reporter)
        if parsed:
            (trees / f"{path.stem}.tree.json").write_bytes(stored.encode(parsed.tree))
    reporter.end_stage()
