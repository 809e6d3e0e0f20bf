"""The options by which commands read SBPL profiles: parameters, and the folder of imports."""

from argparse import ArgumentParser
from pathlib import Path


def add_sbpl_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "-D", dest="params", metavar="NAME=VALUE", action="append", default=[], help="set a parameter of SBPL profiles"
    )
    parser.add_argument("--import-folder", metavar="DIR", type=Path, help="where SBPL's `import` looks for profiles")


def pairs(texts: list[str], option: str) -> dict[str, str]:
    """Read an option's NAME=VALUE; `ValueError` says which is none."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not name or not sign:
            raise ValueError(f"`{option} {text}` is not of the form NAME=VALUE")
        if name in found:
            raise ValueError(f"`{name}` is given twice")
        found[name] = value
    return found
