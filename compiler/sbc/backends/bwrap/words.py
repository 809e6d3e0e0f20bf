"""How values stand in the plan."""

from sbc.policy.values import ParamValue, PathValue

NAME = "bwrap"
"""The target's name."""


def argument(path: PathValue) -> str:
    """Give a path as the plan's argument: its parameter left in, a dollar sign of its own doubled."""
    rest = literal(path.rest)
    return f"${{{path.base}}}{rest}" if path.base else rest


def literal(text: str) -> str:
    """Give a text in which nothing is filled in."""
    return text.replace("$", "$$")


def number(value: int | ParamValue) -> str:
    """Give a number, or the parameter that will be one."""
    return f"${{{value.name}}}" if isinstance(value, ParamValue) else str(value)
