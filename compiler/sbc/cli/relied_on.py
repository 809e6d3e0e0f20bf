"""What `sbc run` will use again: a command that could change it would decide about the next run, or its own end."""

import os

import sbc


def relied_on(file: str, sources: tuple[str, ...]) -> tuple[str, ...]:
    """Give the files and folders: the compiler, the profile or bundle, what it was made from, and the cache.

    `sources`: the names of the files that a profile was made from, as its bundle has them.
    """
    package = os.path.dirname(os.path.abspath(sbc.__file__))  # noqa: PTH100, PTH120 - pathlib is not imported for a run
    if not file.endswith(".sbx"):
        return (package, file)
    from sbc import cache
    from sbc.data import grammar_folder, profiles_folder

    beside = [os.path.join(os.path.dirname(file), one) for one in sources if not one.startswith("<")]  # noqa: PTH118, PTH120
    data = [str(grammar_folder()), str(profiles_folder() / "lib")]
    kept = cache.place()
    return (package, file, *beside, *data, *(() if kept is None else (str(kept),)))
