"""What works on this machine, and what to do where something does not: every backend sets a whole sandbox up, once."""

import os

from sbc_runtime import doctor_cache, doctor_profile
from sbc_runtime.api import Profile
from sbc_runtime.arch import ARCHES, native_arch
from sbc_runtime.backends.interface import Readiness
from sbc_runtime.bundle import decode, encode
from sbc_runtime.bwrap_find import find
from sbc_runtime.doctor_findings import Check, Findings
from sbc_runtime.doctor_reasons import Machine, explain, machine, procfs
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import BackendChoice
from sbc_runtime.loader import for_machine
from sbc_runtime.outcome import Failure, Outcome

BACKENDS: tuple[BackendChoice, ...] = ("namespace", "bwrap")
"""Those that isolate, in the order in which `auto` takes them."""


def diagnose(cgroup_base: str | None = None, here: Machine | None = None) -> Findings:
    """Try everything. `cgroup_base`: the folder for cgroups that is to be tried; None: the one that is found.

    `here`: where explanations are looked up; another one than this machine serves tests. Nothing is changed, and
    nothing is left.
    """
    place = here or machine()
    uname = os.uname()
    checks = [_abi(uname.machine), _procfs(place)]
    working: list[str] = []
    if all(one.ready for one in checks):
        for name in BACKENDS:
            one = check_backend(name, place)
            checks.append(one)
            if one.ready:
                working.append(name)
                doctor_cache.remember(name)
            else:
                doctor_cache.forget(name)
        checks.append(_cgroup(cgroup_base))
    auto = working[0] if working else None
    return Findings(uname.sysname, uname.release, uname.machine, os.geteuid(), auto, tuple(checks))


def check_backend(name: BackendChoice, here: Machine) -> Check:
    """Run a command with a backend: the whole set-up, read back, and the whole end."""
    notes: tuple[str, ...] = ()
    if name == "bwrap":
        try:
            program = find()
        except SetupFailed as failed:
            return Check("backend bwrap", False, failed.failure.why, failed.failure.remedy)
        notes = (f"{program.path}, version {program.version[0]}.{program.version[1]}",)
    outcome = _profile().run(["/bin/true"], backend=name)
    failure = failure_of(outcome)
    if failure is None:
        return Check(f"backend {name}", True, "", "", notes)
    told = explain(failure, here)
    return Check(f"backend {name}", False, told.why, told.remedy, notes)


def failure_of(outcome: Outcome) -> Failure | None:
    """Give what went wrong with the run of a command that only exits with 0; None: nothing."""
    verified = outcome.isolation is not None and outcome.isolation.verified
    if verified and (outcome.ok or (outcome.failure is not None and outcome.failure.step == "command")):
        return None  # a system without this program shows by that, too, that its sandboxes work
    if outcome.failure is not None:
        return outcome.failure
    return Failure("command", f"/bin/true ended as {outcome.kind}, code {outcome.code}", "")


def _profile() -> Profile:
    uname = os.uname()
    arch = native_arch(uname.machine)
    if arch is None:
        raise SetupFailed("abi", uname.machine)
    checked = decode(encode(doctor_profile.bundle(arch)))
    return Profile(for_machine(checked, "linux", uname.machine, arch.byte_order))


def _abi(name: str) -> Check:
    arch = native_arch(name)
    if arch is not None:
        return Check("abi", True, "", "", (arch.name,))
    return Check("abi", False, f"the ABI of this machine ({name}) is not supported", f"use one of {', '.join(ARCHES)}")


def _procfs(here: Machine) -> Check:
    found = procfs(Failure("", "", ""), here)
    return Check("procfs", found is None, *(found or ("", "")))


def _cgroup(base: str | None) -> Check:
    from sbc_runtime.cgroup import probe  # noqa: PLC0415 - only asked here

    found: Readiness = probe(base)
    notes = () if found.ready else ("limits are enforced by rlimits and by sampling instead",)
    return Check("cgroup", found.ready, found.why, found.remedy, notes)
