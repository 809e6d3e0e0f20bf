"""Explains what a policy says of a path: the most specific statement that covers it decides."""

from typing import Literal, get_args

from sbc.analysis.explain.answer import AccessAnswer
from sbc.analysis.explain.places import Place, places
from sbc.analysis.explain.question import QuestionError
from sbc.diagnostics.suggest import closest
from sbc.policy.origin import Origin, System
from sbc.policy.policy import Policy
from sbc.policy.values import BUILT_IN, PathValue

PathVerb = Literal["read", "write", "exec"]
PATH_VERBS: tuple[str, ...] = get_args(PathVerb)


def explain_path(policy: Policy, verb: PathVerb, text: str, system: System = "linux") -> AccessAnswer:
    """Answer whether a path of the sandbox may be read, written or executed.

    Parameters stand for themselves: `${workdir}/x` is asked about as such. A path without one gets the answer that
    holds where no parameter's value covers it; `unless` names the statements that would say otherwise.
    """
    path = read_path(text, policy)
    question = f"{verb} {path}"
    made = places(policy, system)
    covering = [place for place in made if place.path.covers(path)]
    if path.base is not None:
        covering += [place for place in made if place.path.base is None and not place.path.parts]
    deciding = max(covering, key=_specific, default=None)
    if _own_proc(path, system) and deciding is not None and not deciding.path.parts:
        deciding = None
    if deciding is None:
        allowed, origin, why = _by_root(policy, verb, path, system)
    else:
        allowed, origin, why = _allows(deciding, verb), deciding.origin, f"`{deciding.path}` is the nearest path stated"
    unless = _otherwise(made, path, verb, allowed) if deciding is None or deciding.path.base is None else ()
    return AccessAnswer(question, allowed, origin, why, unless)


def read_path(text: str, policy: Policy) -> PathValue:
    """Read a path of a question: absolute, or starting with `~` or `${name}`."""
    base: str | None = None
    rest = text
    if text == "~" or text.startswith("~/"):
        base, rest = "home", text[1:]
    elif text.startswith("${") and "}" in text:
        base, rest = text[2:].split("}", 1)
        known = (*(param.name for param in policy.params), *BUILT_IN)
        if base not in known:
            near = closest(base, known)
            raise QuestionError(f"unknown parameter `${{{base}}}`", f"did you mean `${{{near}}}`?" if near else None)
    if (not rest.startswith("/") and (base is None or rest)) or "\0" in rest:
        raise QuestionError(f"`{text}` is not an absolute path", "write `/path`, `~/path` or `${param}/path`")
    parts = [part for part in rest.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise QuestionError(f"`{text}` goes up: `..` means nothing before links are resolved")
    return PathValue(base, "/" + "/".join(parts) if parts or base is None else "")


def _specific(place: Place) -> tuple[int, int]:
    return place.path.depth


def _allows(place: Place, verb: str) -> bool:
    match verb:
        case "read":
            return place.access != "hide"
        case "write":
            return place.access == "write"
        case _:
            return place.access != "hide" and not place.noexec


def _own_proc(path: PathValue, system: System) -> bool:
    return system == "linux" and path.base is None and path.parts[:1] == ("proc",)


def _by_root(policy: Policy, verb: str, path: PathValue, system: System) -> tuple[bool, Origin | None, str]:
    """Answer for a path that no statement covers."""
    if _own_proc(path, system):
        return verb != "exec", None, "the sandbox has a /proc of its own"
    root = next((root for root in policy.files.roots if root.origin.on in (None, system)), None)
    if root is not None and root.kind == "host":
        return verb != "write", root.origin, "nothing stated covers it: the host's tree is read-only"
    origin = root.origin if root is not None else policy.files.origin
    return False, origin, "nothing stated covers it: in a private root only what is listed exists"


def _otherwise(made: tuple[Place, ...], path: PathValue, verb: str, allowed: bool) -> tuple[Origin, ...]:
    """Give the statements on other parameters' paths (for a parameter's path: also literal ones) that say otherwise."""
    return tuple(
        dict.fromkeys(
            place.origin
            for place in made
            if place.path.base != path.base
            and (place.path.base is not None or place.path.parts)
            and _allows(place, verb) != allowed
        )
    )
