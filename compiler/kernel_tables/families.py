"""The families of constants: which names belong together, what they are, and which headers define them.

A name belongs to the first family whose pattern it matches and whose headers define it. `enum NAME` as a pattern takes
all enumerators of that enumeration.
"""

import re
from typing import NamedTuple


class Family(NamedTuple):
    """One family of constants."""

    name: str
    text: str
    headers: tuple[str, ...]
    pattern: str

    def has(self, constant: str, header: str, enumeration: str) -> bool:
        """Whether a constant, defined in `header` and maybe in an enumeration, belongs here."""
        if not any(header == own or (own.endswith("/") and header.startswith(own)) for own in self.headers):
            return False
        if self.pattern.startswith("enum "):
            return enumeration == self.pattern.removeprefix("enum ") and not constant.startswith("__MAX")
        return re.fullmatch(self.pattern, constant) is not None


ASM = ("asm/", "asm-generic/")
LIBC = "kernel/libc.h"
NETLINK = (
    "ROUTE|UNUSED|USERSOCK|FIREWALL|SOCK_DIAG|NFLOG|XFRM|SELINUX|ISCSI|AUDIT|FIB_LOOKUP|CONNECTOR|NETFILTER|IP6_FW|"
    "DNRTMSG|KOBJECT_UEVENT|GENERIC|SCSITRANSPORT|ECRYPTFS|RDMA|CRYPTO|SMC|INET_DIAG"
)
PERSONALITY = (
    "PER_[A-Z0-9_]+|UNAME26|ADDR_[A-Z0-9_]+|FDPIC_FUNCPTRS|MMAP_PAGE_ZERO|READ_IMPLIES_EXEC|SHORT_INODE|WHOLE_SECONDS|"
    "STICKY_TIMEOUTS"
)
FCNTL_HEADERS = ("linux/fcntl.h", LIBC, *ASM)
ERRNO_HEADERS = ("asm/errno.h", "asm-generic/errno.h", "asm-generic/errno-base.h", LIBC)

FAMILIES = (
    Family("errno", "an error number", ERRNO_HEADERS, "E[A-Z0-9]+"),
    Family("AF", "an address family", ("kernel/socket.h",), "[AP]F_[A-Z0-9_]+"),
    Family("SOCK", "a socket type or a flag of socket(2)", ("kernel/net.h", *ASM),
           "SOCK_(?!IOC|TXREHASH|BUF|SND|RCV)[A-Z]+"),
    Family("SOL", "a level of setsockopt(2)", ("kernel/socket.h", *ASM), "SOL_[A-Z0-9_]+"),
    Family("MSG", "a flag of send(2) and recv(2)", ("kernel/socket.h",), "MSG_(?!CMSG_COMPAT)[A-Z_]+"),
    Family("SHUT", "a value of shutdown(2)", ("kernel/net.h",), "SHUT_[A-Z]+"),
    Family("SYS", "a code of socketcall(2)", ("linux/net.h",), "SYS_[A-Z0-9]+"),
    Family("IPPROTO", "an internet protocol", ("linux/in.h", "linux/in6.h"), "IPPROTO_(?!MAX)[A-Z0-9]+"),
    Family("NETLINK", "a netlink protocol", ("linux/netlink.h",), f"NETLINK_(?:{NETLINK})"),
    Family("ETH_P", "an Ethernet protocol", ("linux/if_ether.h",), "ETH_P_[A-Z0-9_]+"),
    Family("SO", "an option of SOL_SOCKET", ASM, "SO_[A-Z0-9_]+"),
    Family("TCP", "an option of TCP sockets", ("linux/tcp.h",), "TCP_(?!FLAG_|NLA_|MSS_|S_)[A-Z0-9_]+"),
    Family("UDP", "an option of UDP sockets", ("linux/udp.h",), "UDP_[A-Z0-9_]+"),
    Family("IP", "an option of IP sockets", ("linux/in.h",), "(?:IP|MCAST)_[A-Z0-9_]+"),
    Family("IPV6", "an option of IPv6 sockets", ("linux/in6.h",), "IPV6_[A-Z0-9_]+"),
    Family("PACKET", "an option of packet sockets", ("linux/if_packet.h",), "PACKET_[A-Z0-9_]+"),
    Family("IPC", "a flag or command of System V IPC", ("linux/ipc.h",), "IPC_(?!OLD)[A-Z0-9]+"),
    Family("IPCOP", "a code of ipc(2)", ("linux/ipc.h",), "(?:SEM|MSG|SHM)[A-Z]+|DIPC"),
    Family("SHM", "a flag or command of shared memory", ("linux/shm.h",), "SHM_[A-Z0-9_]+"),
    Family("SEM", "a flag or command of semaphores", ("linux/sem.h",), "SEM_[A-Z_]+|[GS]ET(?:PID|VAL|ALL|NCNT|ZCNT)"),
    Family("MSGQ", "a flag or command of message queues", ("linux/msg.h",), "MSG_[A-Z_]+"),
    Family("CLONE", "a flag of clone(2)", ("linux/sched.h",), "CLONE_(?!ARGS)[A-Z_]+|CSIGNAL"),
    Family("SCHED_FLAG", "a flag of sched_setattr(2)", ("linux/sched.h",), "SCHED_FLAG_[A-Z_]+"),
    Family("SCHED", "a scheduling policy", ("linux/sched.h", LIBC), "SCHED_[A-Z_]+"),
    Family("O", "a flag of open(2)", FCNTL_HEADERS, "O_[A-Z_]+"),
    Family("RESOLVE", "a flag of openat2(2)", ("linux/openat2.h",), "RESOLVE_[A-Z_]+"),
    Family("AT", "a flag of the calls that end in at", ("linux/fcntl.h",), "AT_[A-Z_]+"),
    Family("SEAL", "a seal of memfd_create(2)", ("linux/fcntl.h",), "F_SEAL_[A-Z_]+"),
    Family("LEASE", "a kind of lock of fcntl(2)", ASM, "F_(?:RD|WR|UN|EX|SH)LCK"),
    Family("F", "a command of fcntl(2)", FCNTL_HEADERS, "F_(?!OWNER|OK|LINUX)[A-Z0-9_]+"),
    Family("FD", "a flag of a descriptor", FCNTL_HEADERS, "FD_CLOEXEC"),
    Family("DN", "a flag of F_NOTIFY", ("linux/fcntl.h",), "DN_[A-Z]+"),
    Family("LOCK", "an operation of flock(2)", ASM, "LOCK_[A-Z]+"),
    Family("SEEK", "an origin of lseek(2)", ("linux/fs.h",), "SEEK_[A-Z]+"),
    Family("OK", "a mode of access(2)", (LIBC,), "[FRWX]_OK"),
    Family("S", "a bit of a file's mode", ("linux/stat.h",), "S_I[A-Z]+"),
    Family("STATX", "a field of statx(2)", ("linux/stat.h",), "STATX_(?!_)(?!ATTR)[A-Z_]+"),
    Family("RENAME", "a flag of renameat2(2)", ("linux/fs.h",), "RENAME_[A-Z]+"),
    Family("XATTR", "a flag of setxattr(2)", ("linux/xattr.h",), "XATTR_(?:CREATE|REPLACE)"),
    Family("RWF", "a flag of preadv2(2)", ("linux/fs.h",), "RWF_(?!SUPPORTED)[A-Z_]+"),
    Family("SYNC_FILE_RANGE", "a flag of sync_file_range(2)", ("linux/fs.h",), "SYNC_FILE_RANGE_[A-Z_]+"),
    Family("FALLOC", "a mode of fallocate(2)", ("linux/falloc.h",), "FALLOC_FL_[A-Z_]+"),
    Family("FADV", "an advice of posix_fadvise(2)", ("linux/fadvise.h",), "POSIX_FADV_[A-Z]+"),
    Family("SPLICE", "a flag of splice(2)", ("kernel/splice.h",), "SPLICE_F_[A-Z]+"),
    Family("CLOSE_RANGE", "a flag of close_range(2)", ("linux/close_range.h",), "CLOSE_RANGE_[A-Z]+"),
    Family("PROT", "a protection of mmap(2)", ASM, "PROT_[A-Z0-9]+"),
    Family("MAP", "a flag of mmap(2)", (*ASM, "linux/mman.h", LIBC), "MAP_[A-Z0-9_]+"),
    Family("MREMAP", "a flag of mremap(2)", ("linux/mman.h",), "MREMAP_[A-Z]+"),
    Family("MADV", "an advice of madvise(2)", ASM, "MADV_[A-Z_]+"),
    Family("MSYNC", "a flag of msync(2)", ASM, "MS_(?:A?SYNC|INVALIDATE)"),
    Family("MLOCK", "a flag of mlock2(2)", ASM, "MLOCK_[A-Z]+"),
    Family("MCL", "a flag of mlockall(2)", ASM, "MCL_[A-Z]+"),
    Family("PKEY", "a right of a protection key", ASM, "PKEY_(?:DISABLE|UNRESTRICTED)[A-Z_]*"),
    Family("SHADOW_STACK", "a flag of map_shadow_stack(2)", ASM, "SHADOW_STACK_SET_[A-Z]+"),
    Family("MFD", "a flag of memfd_create(2)", ("linux/memfd.h", "asm-generic/hugetlb_encode.h"), "MFD_[A-Z0-9_]+"),
    Family("MPOL", "a policy or flag of mbind(2)", ("linux/mempolicy.h",), "MPOL_(?!MAX)[A-Z_]+"),
    Family("MEMBARRIER", "a command of membarrier(2)", ("linux/membarrier.h",), "MEMBARRIER_[A-Z_]+"),
    Family("PR", "an operation or a value of prctl(2)", ("linux/prctl.h",), "PR_[A-Z0-9_]+"),
    Family("SECBIT", "a secure bit of prctl(2)", ("linux/securebits.h",), "SECBIT_[A-Z_]+"),
    Family("ARCH", "an operation of arch_prctl(2)", ("asm/prctl.h",), "ARCH_[A-Z0-9_]+"),
    Family("TTY", "an ioctl of terminals", (*ASM,),
           "TIOC(?!PKT_|SER_|M_)[A-Z0-9_]+|TC(?:GET|SET|DSET)[A-Z0-9]*|TCFLSH|TCSBRKP?|TCXONC"),
    Family("FIO", "an ioctl of descriptors", ASM, "FIO[A-Z0-9]+"),
    Family("KD", "an ioctl of the console", ("linux/kd.h",), "KD[A-Z0-9_]+|[GP]IO_[A-Z0-9]+"),
    Family("VT", "an ioctl of virtual terminals", ("linux/vt.h",), "VT_[A-Z]+"),
    Family("SIOC", "an ioctl of sockets", ("linux/sockios.h", *ASM), "SIOC[A-Z0-9_]+"),
    Family("FS_IOC", "an ioctl of file systems", ("linux/fs.h", "linux/fscrypt.h", "linux/fsverity.h"),
           "FS_IOC_[A-Z0-9_]+|FI(?:CLONE|CLONERANGE|DEDUPERANGE|FREEZE|THAW|TRIM|BMAP|GETBSZ)"),
    Family("BLK", "an ioctl of block devices", ("linux/fs.h", "linux/blkzoned.h"), "BLK[A-Z0-9]+"),
    Family("TUN", "an ioctl of tun devices", ("linux/if_tun.h",), "TUN(?:SET|GET|ATTACH|DETACH)[A-Z]+"),
    Family("LOOP", "an ioctl of loop devices", ("linux/loop.h",), "LOOP_(?!SET_STATUS_|CONFIGURE_)[A-Z0-9_]+"),
    Family("NS", "an ioctl of namespaces", ("linux/nsfs.h",), "NS_[A-Z_]+"),
    Family("PIDFD", "a flag or ioctl of process descriptors", ("linux/pidfd.h",), "PIDFD_(?!INFO)[A-Z_]+"),
    Family("RND", "an ioctl of random devices", ("linux/random.h",), "RND[A-Z]+"),
    Family("UFFDIO", "an ioctl of userfaultfd(2)", ("linux/userfaultfd.h",),
           "UFFDIO(?:_API|_REGISTER|_UNREGISTER|_WAKE|_COPY|_ZEROPAGE|_MOVE|_WRITEPROTECT|_CONTINUE|_POISON)"),
    Family("UFFD", "a flag of userfaultfd(2)", ("linux/userfaultfd.h",), "UFFD_USER_MODE_ONLY"),
    Family("PERF_IOC", "an ioctl of perf events", ("linux/perf_event.h",), "PERF_EVENT_IOC_[A-Z_]+"),
    Family("PERF", "a flag of perf_event_open(2)", ("linux/perf_event.h",), "PERF_FLAG_[A-Z_]+"),
    Family("PTRACE_O", "an option of ptrace(2)", ("linux/ptrace.h",), "PTRACE_O_[A-Z_]+"),
    Family("PTRACE_EVENT", "an event of ptrace(2)", ("linux/ptrace.h",), "PTRACE_EVENT_[A-Z_]+"),
    Family("PTRACE", "a request of ptrace(2)", ("linux/ptrace.h", LIBC, *ASM),
           "PTRACE_(?!PEEKSIGINFO_|SYSCALL_INFO|EVENTMSG|O_)[A-Z0-9_]+"),
    Family("KCMP", "a kind of kcmp(2)", ("linux/kcmp.h",), "KCMP_(?!TYPES)[A-Z_]+"),
    Family("FUTEX2", "a flag of futex_wait(2)", ("linux/futex.h",), "FUTEX2_[A-Z0-9_]+"),
    Family("FUTEX", "an operation of futex(2)", ("linux/futex.h",),
           "FUTEX_(?!OP_|32|WAITERS|OWNER|TID|BITSET|WAITV|ROBUST)[A-Z0-9_]+"),
    Family("SIG_HOW", "a way of sigprocmask(2)", ASM, "SIG_(?:BLOCK|UNBLOCK|SETMASK)"),
    Family("SIG", "a signal", (LIBC, *ASM), "SIG(?!STKSZ|EV)[A-Z0-9]+"),
    Family("SFD", "a flag of signalfd(2)", ("linux/signalfd.h",), "SFD_[A-Z]+"),
    Family("EFD", "a flag of eventfd(2)", ("linux/eventfd.h",), "EFD_[A-Z]+"),
    Family("TFD", "a flag of timerfd_create(2)", ("linux/timerfd.h",), "TFD_[A-Z_]+"),
    Family("EPOLL", "a flag or operation of epoll", ("linux/eventpoll.h",), "EPOLL_(?!IOC)[A-Z_]+"),
    Family("IN", "a flag of inotify", ("linux/inotify.h",), "IN_[A-Z0-9_]+"),
    Family("FAN", "a flag of fanotify", ("linux/fanotify.h",), "FAN_(?!EVENT_|RESPONSE|INFO)[A-Z_]+"),
    Family("CLOCK", "a clock", ("linux/time.h",), "CLOCK_[A-Z_]+"),
    Family("TIMER", "a flag of timer_settime(2)", ("linux/time.h",), "TIMER_ABSTIME"),
    Family("ITIMER", "an interval timer", ("linux/time.h",), "ITIMER_[A-Z]+"),
    Family("MS", "a flag of mount(2)", ("linux/mount.h",), "MS_[A-Z0-9_]+"),
    Family("MNT", "a flag of umount2(2)", ("kernel/fs.h",), "MNT_[A-Z]+|UMOUNT_[A-Z]+"),
    Family("MOUNT_ATTR", "an attribute of a mount", ("linux/mount.h",), "MOUNT_ATTR_(?!SIZE)[A-Z_]+"),
    Family("OPEN_TREE", "a flag of open_tree(2)", ("linux/mount.h",), "OPEN_TREE_[A-Z]+"),
    Family("MOVE_MOUNT", "a flag of move_mount(2)", ("linux/mount.h",), "MOVE_MOUNT_(?!_)[A-Z_]+"),
    Family("FSOPEN", "a flag of fsopen(2)", ("linux/mount.h",), "FSOPEN_[A-Z]+"),
    Family("FSPICK", "a flag of fspick(2)", ("linux/mount.h",), "FSPICK_[A-Z_]+"),
    Family("FSMOUNT", "a flag of fsmount(2)", ("linux/mount.h",), "FSMOUNT_[A-Z]+"),
    Family("FSCONFIG", "a command of fsconfig(2)", ("linux/mount.h",), "FSCONFIG_[A-Z_]+"),
    Family("LISTMOUNT", "a flag of listmount(2)", ("linux/mount.h",), "LISTMOUNT_[A-Z]+|LSMT_ROOT"),
    Family("GRND", "a flag of getrandom(2)", ("linux/random.h",), "GRND_[A-Z]+"),
    Family("SECCOMP_OP", "an operation of seccomp(2)", ("linux/seccomp.h",), "SECCOMP_(?:SET_MODE|GET)_[A-Z_]+"),
    Family("SECCOMP_MODE", "a mode of seccomp", ("linux/seccomp.h",), "SECCOMP_MODE_[A-Z]+"),
    Family("SECCOMP_IOC", "an ioctl of seccomp listeners", ("linux/seccomp.h",), "SECCOMP_IOCTL_[A-Z_]+"),
    Family("SECCOMP_FLAG", "a flag of seccomp(2)", ("linux/seccomp.h",), "SECCOMP_FILTER_FLAG_[A-Z_]+"),
    Family("KEYCTL", "an operation of keyctl(2)", ("linux/keyctl.h",), "KEYCTL_(?!SUPPORTS|CAPS|MOVE_)[A-Z0-9_]+"),
    Family("KEY_SPEC", "a special keyring", ("linux/keyctl.h",), "KEY_(?:SPEC|REQKEY_DEFL)_[A-Z_]+"),
    Family("BPF", "a command of bpf(2)", ("linux/bpf.h",), "enum bpf_cmd"),
    Family("RLIMIT", "a resource of setrlimit(2)", ASM, "RLIMIT_[A-Z]+"),
    Family("RUSAGE", "a target of getrusage(2)", ("linux/resource.h",), "RUSAGE_[A-Z]+"),
    Family("PRIO", "a target of setpriority(2)", ("linux/resource.h",), "PRIO_(?:PROCESS|PGRP|USER)"),
    Family("IOPRIO", "a target of ioprio_set(2)", ("linux/ioprio.h",), "IOPRIO_WHO_[A-Z]+"),
    Family("PER", "a personality or a flag of it", ("linux/personality.h",), PERSONALITY),
    Family("P", "a kind of id of waitid(2)", ("linux/wait.h",), "P_[A-Z]+"),
    Family("W", "an option of wait4(2)", ("linux/wait.h",), "W[A-Z]+|__W[A-Z]+"),
    Family("REBOOT", "a magic number or command of reboot(2)", ("linux/reboot.h",), "LINUX_REBOOT_[A-Z0-9_]+"),
    Family("IORING_SETUP", "a flag of io_uring_setup(2)", ("linux/io_uring.h",), "IORING_SETUP_[A-Z_]+"),
    Family("IORING_ENTER", "a flag of io_uring_enter(2)", ("linux/io_uring.h",), "IORING_ENTER_[A-Z_]+"),
    Family("IORING_REGISTER", "an operation of io_uring_register(2)", ("linux/io_uring.h",),
           "IORING_(?:UN)?REGISTER_(?!LAST|SRC|DST|FILES_SKIP)[A-Z0-9_]+"),
    Family("LANDLOCK", "a constant of Landlock", ("linux/landlock.h",), "LANDLOCK_[A-Z_]+"),
    Family("SWAP", "a flag of swapon(2)", ("kernel/swap.h",), "SWAP_FLAG_[A-Z_]+"),
    Family("Q", "a command of quotactl(2)", ("linux/quota.h",), "Q_[A-Z]+"),
    Family("MODULE", "a flag of finit_module(2)", ("linux/module.h",), "MODULE_INIT_[A-Z_]+"),
    Family("KEXEC", "a flag of kexec_load(2)", ("linux/kexec.h",), "KEXEC_(?!ARCH|SEGMENT)[A-Z_]+"),
    Family("SYSLOG", "an action of syslog(2)", ("kernel/syslog.h",), "SYSLOG_ACTION_[A-Z_]+"),
    Family("RSEQ", "a flag of rseq(2)", ("linux/rseq.h",), "RSEQ_FLAG_[A-Z_]+"),
    Family("LSM", "an attribute or id of a security module", ("linux/lsm.h",), "LSM_(?:ATTR|ID|FLAG)_[A-Z]+"),
)  # fmt: skip
