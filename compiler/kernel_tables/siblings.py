"""Calls that do the same thing, or part of it, by another door.

Each line is one thing that a process can do and the calls that do it. A rule on one of them and not on the others is
what the lints ask about. From the kernel's entry points: what shares one implementation stands on one line.
"""

from expect import expect

LINES = """
chmod fchmod fchmodat fchmodat2
chown lchown fchown fchownat chown32 lchown32 fchown32
open openat openat2 creat
mount move_mount fsmount open_tree open_tree_attr fsopen fsconfig fspick
mount_setattr open_tree_attr
umount umount2
clone clone3 fork vfork
unshare clone clone3
execve execveat
kill tkill tgkill pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo
settimeofday clock_settime clock_settime64 stime adjtimex clock_adjtime clock_adjtime64
gettimeofday clock_gettime clock_gettime64 time
rename renameat renameat2
link linkat
symlink symlinkat
unlink unlinkat rmdir
mkdir mkdirat
mknod mknodat
readlink readlinkat
access faccessat faccessat2
stat lstat fstat newfstatat fstatat64 stat64 lstat64 fstat64 statx oldstat oldlstat oldfstat
statfs fstatfs statfs64 fstatfs64 ustat
utime utimes futimesat utimensat utimensat_time64
setxattr lsetxattr fsetxattr setxattrat
getxattr lgetxattr fgetxattr getxattrat
listxattr llistxattr flistxattr listxattrat
removexattr lremovexattr fremovexattr removexattrat
truncate ftruncate truncate64 ftruncate64
ptrace process_vm_readv process_vm_writev
accept accept4
send sendto sendmsg sendmmsg
recv recvfrom recvmsg recvmmsg recvmmsg_time64
dup dup2 dup3
pipe pipe2
eventfd eventfd2
signalfd signalfd4
epoll_create epoll_create1
epoll_wait epoll_pwait epoll_pwait2
inotify_init inotify_init1
poll ppoll ppoll_time64 select _newselect pselect6 pselect6_time64
read readv pread64 preadv preadv2
write writev pwrite64 pwritev pwritev2
sendfile sendfile64
fcntl fcntl64
lseek _llseek
getdents getdents64 readdir
mmap mmap2
mprotect pkey_mprotect
mlock mlock2
memfd_create memfd_secret
setuid setreuid setresuid setuid32 setreuid32 setresuid32
setgid setregid setresgid setgid32 setregid32 setresgid32
setfsuid setfsuid32
setfsgid setfsgid32
setgroups setgroups32
setrlimit prlimit64
getrlimit ugetrlimit prlimit64
sched_setscheduler sched_setparam sched_setattr
kexec_load kexec_file_load
init_module finit_module
quotactl quotactl_fd
add_key keyctl request_key
iopl ioperm
uname olduname oldolduname
wait4 waitid waitpid
signal sigaction rt_sigaction
sigprocmask rt_sigprocmask ssetmask
sigsuspend rt_sigsuspend
sigpending rt_sigpending
sigreturn rt_sigreturn
rt_sigtimedwait rt_sigtimedwait_time64
futex futex_time64 futex_wait futex_wake futex_requeue futex_waitv
io_getevents io_pgetevents io_pgetevents_time64
clock_nanosleep clock_nanosleep_time64 nanosleep
clock_getres clock_getres_time64
timer_settime timer_settime64
timer_gettime timer_gettime64
timerfd_settime timerfd_settime64
timerfd_gettime timerfd_gettime64
mq_timedsend mq_timedsend_time64
mq_timedreceive mq_timedreceive_time64
semop semtimedop semtimedop_time64
sched_rr_get_interval sched_rr_get_interval_time64
fadvise64 fadvise64_64 arm_fadvise64_64
sync_file_range sync_file_range2
vm86 vm86old
name_to_handle_at open_by_handle_at
exit exit_group
process_madvise madvise
"""


def siblings(calls: set[str]) -> dict[str, object]:
    """The content of siblings.json: by call, the others of its lines in the order in which they stand there."""
    found: dict[str, list[str]] = {}
    for line in LINES.strip().splitlines():
        together = line.split()
        expect(set(together) <= calls, sorted(set(together) - calls))
        for call in together:
            others = found.setdefault(call, [])
            others.extend(other for other in together if other != call and other not in others)
    return dict(sorted(found.items()))
