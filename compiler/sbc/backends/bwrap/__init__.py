"""The target `bwrap`: arguments for bubblewrap 0.8 to 0.12, NUL-separated, for `--args FD`.

Whoever builds its arguments owns the security model, says bubblewrap: that is us. What depends on the machine that
runs is left to whatever applies the plan, in words that bubblewrap does not know, so that a plan which nobody has
finished cannot start:

- `${NAME}`: the value of a parameter of the profile, `home`, `tmpdir` or `cwd`, resolved, put in as it is;
  `$$`: a dollar sign;
- `${:HOME}`: the variable HOME's value, resolved; where it is `home`'s, the two lines are one;
- `${:user}`, `${:group}`, `${:hostname}`: the ids and the name inside where the profile states none: the caller's ids,
  65534 for root; a name that is not the host's;
- `${:seccomp}`: a descriptor with the filter for this machine; `${:start-in}`: the folder to start in;
- `--sbc-hide SOURCE PLACE`: cover PLACE with nothing, by what SOURCE, a path of the host, is once links are resolved:
  a folder by `--perms 0555 --tmpfs PLACE`, anything else by `--dev-bind /dev/null PLACE` (a plain bind could not be
  opened); missing: an error. Where both are one path, PLACE too is what links resolve to, and what is covered already
  is not covered again. `--sbc-hide-try`: missing is skipped, and reported;
- `--sbc-seal PLACE`: `--remount-ro PLACE` where PLACE was covered by an empty folder, else nothing;
- `--sbc-inodes COUNT`: the next `--tmpfs` has at most COUNT inodes; bubblewrap cannot say it, so the budget is
  enforced in another way, or nothing is started.

A mount point below something writable must be there already: bubblewrap would make it, on the host's disk.
Mounts are to be sorted again by depth once parameters are filled in; a writable folder that by then lies between a
writable mount and a protected path below it becomes a mount point too (`--bind-try`, as those known here are), or it
could be renamed with what it holds. Environment and limits are the runtime's: the
process environment given to bubblewrap is the command's, so that no value stands among arguments.
"""
