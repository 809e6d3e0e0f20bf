"""What the watcher of a run without namespaces, and the process that becomes the command, are given."""

from sbc_runtime.backends.interface import ChildDescriptors
from sbc_runtime.landlock import Rules
from sbc_runtime.prepared import Prepared
from sbc_runtime.records import NamedTuple
from sbc_runtime.rlimits import Rlimit


class Start(NamedTuple):
    """Descriptors: `channel` to the supervisor, `status` for one `init.STATUS`, `lifeline` to watch.

    `sockets`: the second filter, or None. `version`: Landlock's ABI, 0 for none.
    """

    prepared: Prepared
    child: ChildDescriptors
    channel: int
    status: int
    lifeline: int
    limits: tuple[Rlimit, ...]
    sockets: bytes | None
    rules: Rules
    version: int
