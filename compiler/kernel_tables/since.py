"""Which kernel brought each call.

Sources: the table of syscalls(2) in the man pages (up to Linux 5.14), then the kernel's own tables release by release.
A call that some ABIs got later stands in LATER; ABIs that are younger than Linux 3.17 stand in ARRIVAL.
"""

import gzip
import re
from pathlib import Path

from expect import expect

ROW = re.compile(r"^\\fB(\w+)\\fP\(2\)\t([\d.]+)", re.M)

NEWER = {
    "2.6": "arm_fadvise64_64 usr26 usr32 pread64 pwrite64",
    "4.3": "membarrier",
    "4.15": "riscv_flush_icache",
    "5.1": "clock_adjtime64 clock_getres_time64 clock_gettime64 clock_nanosleep_time64 clock_settime64 futex_time64 "
    "io_pgetevents_time64 mq_timedreceive_time64 mq_timedsend_time64 ppoll_time64 pselect6_time64 recvmmsg_time64 "
    "rt_sigtimedwait_time64 sched_rr_get_interval_time64 semtimedop_time64 timer_gettime64 timer_settime64 "
    "timerfd_gettime64 timerfd_settime64 utimensat_time64",
    "5.12": "mount_setattr",
    "5.15": "process_mrelease",
    "5.16": "futex_waitv",
    "5.17": "set_mempolicy_home_node",
    "6.4": "riscv_hwprobe",
    "6.5": "cachestat",
    "6.6": "fchmodat2 map_shadow_stack",
    "6.7": "futex_wake futex_wait futex_requeue",
    "6.8": "statmount listmount lsm_get_self_attr lsm_set_self_attr lsm_list_modules",
    "6.10": "mseal",
    "6.11": "uretprobe",
    "6.13": "setxattrat getxattrat listxattrat removexattrat",
    "6.15": "open_tree_attr",
    "6.17": "file_getattr file_setattr",
    "6.18": "uprobe",
    "6.19": "listns",
    "7.0": "rseq_slice_yield",
}
# Names in the tables that no kernel ever answered, or whose age nobody wrote down.
UNKNOWN = (
    "afs_syscall break cachectl epoll_ctl_old epoll_wait_old ftime getpmsg gtty idle lock mpx multiplexer prof profil "
    "putpmsg security stty timerfd tuxcall ulimit vserver"
)
SOCKETS = (
    "socket socketpair bind connect listen accept4 getsockopt setsockopt getsockname getpeername sendto sendmsg "
    "recvfrom recvmsg shutdown"
)
SYSTEM_V = "semget semctl shmget shmctl shmat shmdt msgget msgsnd msgrcv msgctl"
GENERIC = {"4.19": "io_pgetevents rseq", "5.0": "kexec_file_load"}
LATER = {
    "i386": {"4.3": SOCKETS, "4.12": "arch_prctl", "5.1": SYSTEM_V},
    "s390x": {
        "4.3": f"{SOCKETS} recvmmsg sendmmsg", "4.12": "s390_guarded_storage", "4.15": "s390_sthyi",
        "4.17": "kexec_file_load", "4.19": "io_pgetevents rseq", "5.4": "clone3", "": "memfd_secret",
        "5.1": f"{SYSTEM_V} semtimedop pkey_mprotect pkey_alloc pkey_free",
    },
    "ppc64le": {
        "4.10": "kexec_file_load", "4.16": "pkey_mprotect pkey_alloc pkey_free", "5.6": "clone3",
        "5.1": f"{SYSTEM_V} semtimedop",
    },
    "arm": {"4.20": "io_pgetevents", "5.0": "migrate_pages kexec_file_load"},
    "mips64el": {"4.19": "io_pgetevents rseq", "5.4": "clone3"},
    "aarch64": GENERIC,
    "riscv64": GENERIC | {"5.6": "clone3"},
    "loongarch64": {"6.11": "fstat newfstatat", "": "memfd_secret"},
}  # fmt: skip
ARRIVAL = {"riscv64": "4.15", "loongarch64": "5.19"}
RELEASES = (
    *(f"3.{n}" for n in range(17, 20)),
    *(f"4.{n}" for n in range(21)),
    *(f"5.{n}" for n in range(20)),
    *(f"6.{n}" for n in range(20)),
    *(f"7.{n}" for n in range(3)),
)


def since(page: Path, calls: set[str]) -> dict[str, object]:
    """The content of calls.json: the version of each call, the later ones by ABI, and the releases that are known."""
    found = {match.group(1): match.group(2) for match in ROW.finditer(gzip.decompress(page.read_bytes()).decode())}
    found.update(_turned(NEWER))
    found.update(dict.fromkeys(UNKNOWN.split(), ""))
    missing = calls - found.keys()
    expect(not missing, "which kernel brought these?", sorted(missing))
    return {
        "since": {call: found[call] for call in sorted(calls)},
        "later": {abi: dict(sorted(_turned(table).items())) for abi, table in LATER.items()},
        "arrival": ARRIVAL,
        "releases": list(RELEASES),
    }


def _turned(table: dict[str, str]) -> dict[str, str]:
    return {call: version for version, names in table.items() for call in names.split()}
