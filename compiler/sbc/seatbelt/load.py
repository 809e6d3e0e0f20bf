"""Evaluates a profile to its rules."""

import os
import stat
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sbc.diagnostics.catalogue.reading import OtherKind, Unreadable
from sbc.diagnostics.catalogue.sbpl import SbplImport, SbplQuestion, SbplVersion
from sbc.diagnostics.looks import looks_like
from sbc.diagnostics.span import Source, Span
from sbc.seatbelt.atoms import text_of
from sbc.seatbelt.budget import MAX_SOURCE, Budget
from sbc.seatbelt.index import Index
from sbc.seatbelt.library import names_of
from sbc.seatbelt.machine import Machine
from sbc.seatbelt.procedures import Builtin, Call, Eval, Step
from sbc.seatbelt.reader import read
from sbc.seatbelt.refuse import refused
from sbc.seatbelt.rules import Profile, Rule
from sbc.seatbelt.values import UNSPECIFIED, Pair, Value, is_text
from sbc_runtime.open_flags import READ

EVERY_PROFILE = Source("<every profile>", "(allow signal (target self))\n(allow mach-task-name (target self))\n")
"""What macOS adds to every profile: taken to follow the profile's own rules, so that nothing can undo it."""


class Loaded:
    """A profile's rules, in the order in which they were made; the last two are what every profile gets."""

    def __init__(self, rules: tuple[Rule, ...], profile: Profile, sources: tuple[Source, ...]) -> None:
        self.rules = rules
        self.trace = profile.trace
        """The path of a `trace` directive."""
        self.missing = dict(profile.missing)
        """The parameters that were asked for and not given, and where each was first."""
        self.sources = sources
        """The profile's text, and each that it imported."""
        self.index = Index(rules)


class Prepared(NamedTuple):
    """A text that was read, to be evaluated with several sets of parameters."""

    source: Source
    forms: Value


def prepared(source: Source) -> Prepared:
    """Read a text; `Failed` where macOS could not."""
    return Prepared(source, read(source))


class _Imports(NamedTuple):
    """Where imported files are found, and which were."""

    folder: Path | None
    texts: Mapping[str, str] | None
    found: list[Source]

    def source(self, call: Call, name: str) -> Source:
        """Find one."""
        if self.texts is None:
            found = _import_source(call, name, self.folder)
        elif name in self.texts:
            found = Source(name, self.texts[name])
        else:
            raise refused(SbplImport(call.place(0), name, "no text was given for it"))
        self.found.append(found)
        return found


def load(
    source: Source | Prepared | Path,
    params: Mapping[str, str] | None = None,
    import_folder: Path | None = None,
    imported: Mapping[str, str] | None = None,
) -> Loaded:
    """Evaluate a profile; `Failed` with one diagnostic where macOS would refuse it, or where it is not known here.

    A `Path` is read from disk; a text is given as a `Source`. `import` looks in `import_folder` and
    nowhere else, also for an absolute path; without one it finds nothing. `imported` are texts that stand for all
    files, by their names.
    """
    if isinstance(source, Path):
        try:
            source = Source(source.name, file_text(source))
        except OSError as error:
            raise refused(Unreadable(None, source.name, error.strerror or "it is no file")) from None
        kind = looks_like(source.text.encode("utf-8", "surrogateescape"))
        if kind is not None and kind != "sbpl":
            raise refused(OtherKind(None, source.name, kind, "sbpl"))
    budget = Budget()
    profile = Profile(budget)
    supplied = dict(params or {})
    for name, value in supplied.items():
        if not is_text(name + value):
            raise refused(SbplQuestion(None, f"the parameter `{name}` is no text"))
    machine = Machine(names_of(profile, supplied), budget)
    own = source if isinstance(source, Prepared) else prepared(source)
    imports = _Imports(import_folder, imported, [own.source])
    machine.globals.names["import"] = _importer(profile, imports)
    original = dict(machine.globals.names)
    _run(machine, own.forms)
    if profile.version is None:
        end = len(own.source.text)
        raise refused(SbplVersion(Span(own.source, end, end), "the profile says no version"))
    profile.extra.clear()
    machine.globals.names = original
    _run(machine, _every_profile().forms)
    return Loaded(tuple(profile.rules), profile, tuple(dict.fromkeys(imports.found)))


@cache
def _every_profile() -> Prepared:
    return prepared(EVERY_PROFILE)


def _run(machine: Machine, here: Value) -> None:
    while isinstance(here, Pair):
        machine.run(Eval(here.car, machine.globals, here.at))
        here = here.cdr


def _importer(profile: Profile, imports: _Imports) -> Builtin:
    def carry_out(call: Call, arguments: list[Value]) -> Value:
        profile.begun(call.at)
        return _imported(call, text_of(call, arguments, 0), imports)

    return Builtin("import", carry_out, 1, 1)


def _imported(call: Call, name: str, imports: _Imports) -> Step:
    """Evaluate another file's forms, in the profile's own names."""
    source = imports.source(call, name)
    call.machine.budget.file(call.at, len(source.text))
    here = read(source)
    while isinstance(here, Pair):
        yield Eval(here.car, call.machine.globals, here.at)
        here = here.cdr
    return UNSPECIFIED


def _import_source(call: Call, name: str, folder: Path | None) -> Source:
    """Find an imported file within the folder, also by an absolute path, and nowhere else.

    What a profile imports is shown where it is wrong: another's profile must not have any file of the caller's shown.
    """
    path = Path(name)
    why = None
    if not name or "\0" in name:
        why = "it is no path"
    elif folder is None:
        why = "no folder was given to look in"
    elif ".." in path.parts or not (folder.absolute() / path).is_relative_to(folder.absolute()):
        why = "it leads out of the folder"
    else:
        try:
            return Source(name, file_text(folder.absolute() / path))
        except OSError as error:
            why = error.strerror or "it cannot be read"
    raise refused(SbplImport(call.place(0), name, why))


def file_text(path: Path) -> str:
    """Read a regular file up to the size that a text may have; bytes that are no UTF-8 are kept as they are."""
    # A pipe or a device may never end, and opening one may already wait.
    with os.fdopen(os.open(path, READ), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is no regular file")
        return file.read(MAX_SOURCE + 1).decode("utf-8", "surrogateescape")
