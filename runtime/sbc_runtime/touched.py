"""What is said where the command made or replaced what a profile protects."""

from sbc_runtime.outcome import Absent, Failure, Replaced


def touched(absent: tuple[Absent, ...], replaced: tuple[Replaced, ...]) -> Failure | None:
    """Say what became of protected paths: the command's status says nothing of a tree that it was not to change so."""
    for one in absent:
        if one.created:
            why = f"the command made `{one.path}`, which the profile protects and which was not there before"
            return Failure("created-protected", why, "create it before the run", 0, one.where)
    for other in replaced:
        why = f"`{other.place}` is not what it was before the run"
        if other.place != other.path:
            why += f", so that `{other.path}`, which the profile protects, may lead elsewhere"
        return Failure("replaced-protected", why, "see what is there now; name what a link leads to", 0, other.where)
    return None
