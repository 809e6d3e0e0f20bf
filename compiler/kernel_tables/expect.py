"""Stop the generator where a source does not say what it is read for."""


class UnexpectedSourceError(Exception):
    """What was found and is not understood."""


def expect(holds: bool, *about: object) -> None:
    """Raise UnexpectedSourceError about the given things unless `holds`."""
    if not holds:
        raise UnexpectedSourceError(*about)
