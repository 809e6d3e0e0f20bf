"""Policy and artifacts to bundle: everything that one profile compiles to, in one file."""

from collections.abc import Mapping

from sbc.backends.bundle.plan import plan, statement
from sbc.backends.coverage import Coverage
from sbc.backends.target import Artifact, OutputFile
from sbc.policy.policy import Policy
from sbc.record import Record
from sbc_runtime import contents
from sbc_runtime.bundle import encode
from sbc_runtime.contents import Bundle, Bwrap, Filter, Loss, Param, Sbpl, SourceFile
from sbc_runtime.instruction import SIZE
from sbc_runtime.sha256 import sha256_hex


class Parts(Record):
    """What the other targets made.

    `bpf` is the filters' artifact; `sbpl` and `bwrap` those targets' artifacts, or in a few words why there is none;
    `docs` the Markdown; `notes` what the compiler says besides.
    """

    bpf: Artifact
    sbpl: Artifact | str
    bwrap: Artifact | str
    coverage: Coverage
    docs: str
    compiler: str
    notes: tuple[str, ...] = ()


def bundle(policy: Policy, parts: Parts) -> Bundle:
    """Give the bundle of a policy; its address is made when it is encoded."""
    artifacts = [one for one in (parts.bpf, parts.sbpl, parts.bwrap) if isinstance(one, Artifact)]
    losses = (loss for artifact in artifacts for loss in artifact.losses)
    notes = [*parts.notes, *(note for artifact in artifacts for note in artifact.notes)]
    return Bundle(
        profile=policy.name,
        compiler=parts.compiler,
        sources=tuple(sorted(SourceFile(source.name, source.sha256) for source in policy.sources)),
        params=tuple(Param(param.name, param.type, param.default) for param in policy.params),
        filters=_filters(policy, parts.bpf),
        sbpl=Sbpl(None, parts.sbpl) if isinstance(parts.sbpl, str) else Sbpl(_only(parts.sbpl).decode(), None),
        bwrap=Bwrap(None, parts.bwrap) if isinstance(parts.bwrap, str) else Bwrap(_arguments(parts.bwrap), None),
        plan=plan(policy),
        losses=tuple(
            Loss(loss.target, loss.direction, statement(loss.origin), loss.why, loss.deferred) for loss in losses
        ),
        coverage=contents.Coverage(
            parts.coverage.targets,
            tuple(
                contents.Row(statement(row.origin), row.origin.on, tuple(cell.state for cell in row.cells))
                for row in parts.coverage.rows
            ),
        ),
        docs=parts.docs,
        notes=tuple(dict.fromkeys(notes)),
    )


def output(made: Bundle) -> OutputFile:
    """Give the bundle as the file `NAME.sbb`."""
    return OutputFile(f"{made.profile}.sbb", encode(made))


def _filters(policy: Policy, artifact: Artifact) -> tuple[Filter, ...] | None:
    if not policy.syscalls.filters:
        return None
    content: Mapping[str, bytes] = {file.name: file.content for file in artifact.files}
    made: list[Filter] = []
    for one in policy.syscalls.filters:
        program = content[f"{policy.name}.{one.name}.bpf"]
        arches = [abi.arch for abi in one.abis]
        made.append(
            Filter(
                abis=tuple(arch.name for arch in arches),
                byte_order=arches[0].byte_order,
                audit=tuple(arch.audit for arch in arches),
                instructions=len(program) // SIZE,
                sha256=sha256_hex(program),
                program=program,
            )
        )
    return tuple(made)


def _only(artifact: Artifact) -> bytes:
    (file,) = artifact.files
    return file.content


def _arguments(artifact: Artifact) -> tuple[str, ...]:
    """Split the target's file: arguments, each ended by a NUL."""
    content = _only(artifact).decode("utf-8", "surrogateescape")
    return tuple(content.removesuffix("\0").split("\0")) if content else ()
