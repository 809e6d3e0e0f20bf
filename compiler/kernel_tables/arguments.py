"""What people call the arguments of a call, and which constants are sensible values of them.

ALIASES and CALL_ALIASES: the names of the man pages, where the kernel's differ. FAMILIES: lines of calls, an argument
and the families of constants (see families.py) that it takes; an argument that is not here takes any number.
"""

from expect import expect

# alias: the kernel's names that it may stand for; the first that the call has is meant.
ALIASES = {
    "dirfd": "dfd mountdirfd", "olddirfd": "olddfd", "newdirfd": "newdfd", "from_dirfd": "from_dfd",
    "to_dirfd": "to_dfd", "pathname": "filename path library specialfile", "path": "filename pathname specialfile",
    "filename": "pathname path", "flags": "flag at_flags swap_flags shmflg msgflg semflg oflag",
    "length": "len len_in", "clockid": "which_clock",
    "clk_id": "which_clock", "clock_id": "which_clock", "signum": "sig", "owner": "user", "stack": "newsp",
    "buflen": "len", "request": "cmd", "op": "cmd request option", "operation": "op option cmd", "advice": "behavior",
    "offset": "off pos pgoff", "old_size": "old_len", "new_size": "new_len",
}  # fmt: skip
CALL_ALIASES = {
    "socket socketpair": "domain=family",
    "accept accept4 bind connect listen shutdown getsockname getpeername setsockopt getsockopt": "sockfd=fd",
    "send sendto sendmsg sendmmsg recv recvfrom recvmsg recvmmsg recvmmsg_time64": "sockfd=fd",
    "clone": "flags=clone_flags stack=newsp parent_tid=parent_tidptr child_tid=child_tidptr",
    "unshare": "flags=unshare_flags",
    "setns": "nstype=flags",
    "ioctl": "request=cmd op=cmd",
    "mount": "source=dev_name target=dir_name filesystemtype=type fstype=type mountflags=flags",
    "umount2": "target=name",
    "umount": "target=name",
    "mmap": "length=len offset=off",
    "mmap2": "length=len pgoffset=pgoff offset=pgoff",
    "mprotect pkey_mprotect": "addr=start size=len",
    "madvise": "addr=start length=len_in advice=behavior",
    "mlock mlock2 munlock mseal mincore msync mbind": "addr=start",
    "mremap": "old_address=addr new_address=new_addr",
    "personality": "persona=personality",
    "arch_prctl": "code=option op=option",
    "prctl": "op=option",
    "futex futex_time64": "futex_op=op",
    "seccomp": "operation=op args=uargs",
    "reboot": "magic=magic1 op=cmd",
    "waitid": "idtype=which id=upid",
    "wait4": "pid=upid wstatus=stat_addr status=stat_addr",
    "waitpid": "wstatus=stat_addr status=stat_addr",
    "setpriority": "prio=niceval",
    "eventfd eventfd2": "initval=count",
    "signalfd signalfd4": "fd=ufd mask=user_mask",
    "timerfd_settime timerfd_gettime timerfd_settime64 timerfd_gettime64": "fd=ufd",
    "close_range": "first=fd last=max_fd",
    "dup": "oldfd=fildes",
    "pipe pipe2": "pipefd=fildes",
    "exit exit_group": "status=error_code",
    "nice": "inc=increment",
    "add_key": "type=_type description=_description keyring=ringid",
    "request_key": "type=_type description=_description dest_keyring=destringid",
    "keyctl": "operation=option op=option",
    "execveat": "dirfd=fd pathname=filename",
    "open_by_handle_at": "mount_fd=mountdirfd dirfd=mountdirfd",
    "finit_module init_module": "param_values=uargs",
    "delete_module": "name=name_user",
    "fsmount": "fsfd=fs_fd",
    "memfd_create": "name=uname",
    "pidfd_getfd": "targetfd=fd",
    "rt_sigqueueinfo": "tgid=pid",
    "swapon": "swapflags=swap_flags",
    "ptrace": "op=request",
    "perf_event_open": "attr=attr_uptr",
    "io_uring_register": "op=opcode",
    "rt_sigprocmask sigprocmask": "set=nset oldset=oset",
    "setsockopt getsockopt": "option=optname",
}
DESCRIPTORS = "dfd olddfd newdfd from_dfd to_dfd"
IOCTLS = "TTY FIO KD VT SIOC FS_IOC BLK TUN LOOP NS PIDFD RND UFFDIO PERF_IOC SECCOMP_IOC"
FAMILIES = f"""
socket socketpair: family: AF
socket socketpair: type: SOCK
accept4: flags: SOCK O
send sendto sendmsg sendmmsg recv recvfrom recvmsg recvmmsg recvmmsg_time64: flags: MSG
shutdown: how: SHUT
setsockopt getsockopt: level: SOL IPPROTO
socketcall: call: SYS
ipc: call: IPCOP
open openat open_by_handle_at pipe2 dup3 delete_module memfd_secret: flags: O
mq_open: oflag: O
open openat creat mkdir mkdirat mknod mknodat chmod fchmod fchmodat fchmodat2 mq_open: mode: S
umask: mask: S
clone: clone_flags: CLONE SIG
unshare: unshare_flags: CLONE
setns: flags: CLONE
mmap mmap2 mprotect pkey_mprotect remap_file_pages: prot: PROT
mmap mmap2 remap_file_pages: flags: MAP
mremap: flags: MREMAP
madvise process_madvise: behavior: MADV
msync: flags: MSYNC
mlock2: flags: MLOCK
mlockall: flags: MCL
pkey_alloc: init_val: PKEY
map_shadow_stack: flags: SHADOW_STACK
memfd_create: flags: MFD
mbind set_mempolicy: mode: MPOL
mbind get_mempolicy: flags: MPOL
membarrier: cmd: MEMBARRIER
membarrier: flags: MEMBARRIER
prctl: option: PR
arch_prctl: option: ARCH
personality: personality: PER
ioctl: cmd: {IOCTLS}
fcntl fcntl64: cmd: F
flock: cmd: LOCK
lseek _llseek: whence: SEEK
access faccessat faccessat2: mode: OK
unlinkat fchownat newfstatat fstatat64 name_to_handle_at: flag: AT
linkat statx utimensat utimensat_time64 execveat fchmodat2 faccessat2 mount_setattr: flags: AT
setxattrat getxattrat listxattrat removexattrat file_getattr file_setattr: at_flags: AT
statx: mask: STATX
open_tree open_tree_attr: flags: OPEN_TREE AT
fspick: flags: FSPICK
fsopen: flags: FSOPEN
fsmount: flags: FSMOUNT
fsmount: attr_flags: MOUNT_ATTR
fsconfig: cmd: FSCONFIG
move_mount: flags: MOVE_MOUNT
mount: flags: MS
umount2: flags: MNT
listmount: flags: LISTMOUNT
renameat2: flags: RENAME
setxattr lsetxattr fsetxattr: flags: XATTR
preadv2 pwritev2: flags: RWF
sync_file_range sync_file_range2: flags: SYNC_FILE_RANGE
fallocate: mode: FALLOC
fadvise64 fadvise64_64 arm_fadvise64_64: advice: FADV
splice tee vmsplice: flags: SPLICE
close_range: flags: CLOSE_RANGE
epoll_create1: flags: EPOLL
epoll_ctl: op: EPOLL
eventfd2: flags: EFD
signalfd4: flags: SFD
timerfd_create: clockid: CLOCK
timerfd_create timerfd_settime timerfd_settime64: flags: TFD
inotify_init1: flags: IN
inotify_add_watch: mask: IN
fanotify_init fanotify_mark: flags: FAN
fanotify_mark: mask: FAN
fanotify_init: event_f_flags: O
clock_gettime clock_gettime64 clock_settime clock_settime64: which_clock: CLOCK
clock_adjtime clock_adjtime64 clock_getres clock_getres_time64: which_clock: CLOCK
clock_nanosleep clock_nanosleep_time64 timer_create: which_clock: CLOCK
clock_nanosleep clock_nanosleep_time64 timer_settime timer_settime64: flags: TIMER
getitimer setitimer: which: ITIMER
futex_wait futex_waitv: clockid: CLOCK
futex futex_time64: op: FUTEX
futex_wait futex_wake: flags: FUTEX2
kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal rt_sigaction sigaction signal: sig: SIG
pidfd_send_signal pidfd_open: flags: PIDFD
rt_sigprocmask sigprocmask: how: SIG_HOW
ptrace: request: PTRACE
kcmp: type: KCMP
seccomp: op: SECCOMP_OP
seccomp: flags: SECCOMP_FLAG
keyctl: option: KEYCTL
add_key: ringid: KEY_SPEC
request_key: destringid: KEY_SPEC
bpf: cmd: BPF
perf_event_open: flags: PERF
userfaultfd: flags: UFFD O
getrandom: flags: GRND
getrlimit setrlimit prlimit64 ugetrlimit: resource: RLIMIT
getrusage: who: RUSAGE
getpriority setpriority: which: PRIO
ioprio_get ioprio_set: which: IOPRIO
waitid: which: P
waitid wait4 waitpid: options: W
reboot: magic1: REBOOT
reboot: magic2: REBOOT
reboot: cmd: REBOOT
io_uring_enter: flags: IORING_ENTER
io_uring_register: opcode: IORING_REGISTER
landlock_create_ruleset landlock_restrict_self: flags: LANDLOCK
landlock_add_rule: rule_type: LANDLOCK
swapon: swap_flags: SWAP
finit_module: flags: MODULE
kexec_load kexec_file_load: flags: KEXEC
syslog: type: SYSLOG
rseq: flags: RSEQ
lsm_get_self_attr lsm_set_self_attr: attr: LSM
sched_setscheduler sched_get_priority_max sched_get_priority_min: policy: SCHED
shmget: shmflg: IPC SHM S
shmat: shmflg: SHM
shmctl: cmd: IPC SHM
semget: semflg: IPC S
semctl: cmd: IPC SEM
msgget: msgflg: IPC S
msgsnd msgrcv: msgflg: IPC MSGQ
msgctl: cmd: IPC MSGQ
shmget semget msgget: key: IPC
"""


def arguments(names: dict[str, set[str]], families: set[str]) -> dict[str, object]:
    """The content of arguments.json: by call, the aliases and the families of its arguments."""
    found: dict[str, tuple[dict[str, str], dict[str, list[str]]]] = {call: ({}, {}) for call in sorted(names)}
    for calls, pairs in CALL_ALIASES.items():
        for call in calls.split():
            for alias, name in (pair.split("=") for pair in pairs.split()):
                expect(name in names[call], call, name)
                if alias not in names[call]:
                    found[call][0][alias] = name
    for call, known in names.items():
        for alias, meant in ALIASES.items():
            fitting = [name for name in meant.split() if name in known]
            if fitting and alias not in known:
                found[call][0].setdefault(alias, fitting[0])
        for name in DESCRIPTORS.split():
            if name in known:
                found[call][1][name] = ["AT"]
    for line in FAMILIES.strip().splitlines():
        calls, name, taken = line.split(": ")
        expect(set(taken.split()) <= families, line)
        for call in calls.split():
            expect(name in names[call], call, name)
            found[call][1][name] = [*map(str, taken.split())]
    return {call: list(tables) for call, tables in found.items() if any(tables)}
