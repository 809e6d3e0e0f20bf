"""Boots an image in QEMU (without KVM), runs a job in it as root, and gives what it printed."""

import os
import re
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.vm.archive import entries_of, pack
from tests.vm.images import IMAGES, build


class Machine(NamedTuple):
    """How QEMU plays one architecture."""

    program: str
    options: tuple[str, ...]
    console: str


MACHINES = {
    "amd64": Machine(
        "qemu-system-x86_64",
        ("-M", "microvm,acpi=off,isa-serial=on,x-option-roms=off", "-accel", "tcg", "-cpu", "max"),
        "ttyS0 reboot=t",
    ),
    "arm64": Machine("qemu-system-aarch64", ("-M", "virt", "-cpu", "cortex-a57"), "ttyAMA0"),
    "s390x": Machine("qemu-system-s390x", ("-M", "s390-ccw-virtio", "-cpu", "max"), "ttysclp0"),
    "riscv64": Machine("qemu-system-riscv64", ("-M", "virt", "-cpu", "rv64"), "ttyS0"),
}


class Result(NamedTuple):
    """A job's exit status and what it printed."""

    status: int
    output: str


def run_in_guest(name: str, job: Path, timeout: float = 1800, append: str = "", memory: int = 512) -> Result:
    """Run `job/main.py` in the guest, which has so many MiB of memory; the test is skipped where QEMU is not installed.

    `RuntimeError` with the console's last lines where the guest ends without a result.
    """
    image = IMAGES[name]
    machine = MACHINES[image.arch]
    if shutil.which(machine.program) is None:
        pytest.skip(f"{machine.program} is not installed")
    folder = build(image)
    initrd = (folder / "initrd.cpio").read_bytes() + pack([("job", 0o40755, b""), *entries_of(job, "job/")])
    with tempfile.NamedTemporaryFile(prefix="initrd-") as file:
        file.write(initrd)
        file.flush()
        serial = ["-serial", "stdio"]
        if image.arch == "s390x":
            serial = ["-chardev", "stdio,id=c", "-device", "sclpconsole,chardev=c"]
        command = [
            machine.program, *machine.options, "-m", str(memory), "-smp", "1",
            "-kernel", str(folder / "vmlinuz"), "-initrd", file.name,
            "-append", f"console={machine.console} quiet loglevel=1 panic=-1 rdinit=/init {append}",
            "-no-reboot", "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none", *serial,
        ]  # fmt: skip
        return _result(name, _console(command, timeout))


def _console(command: list[str], timeout: float) -> str:
    """Give what the guest's console says until the job's end or the time limit."""
    end = time.monotonic() + timeout
    said = b""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        while b"@@END status=" not in said or not said.rstrip(b"\r").endswith(b"\n"):
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))
            chunk = os.read(process.stdout.fileno(), 65536) if ready else b""
            if not chunk:
                break
            said += chunk
        process.kill()
    return said.decode(errors="replace").replace("\r", "")


def _result(name: str, console: str) -> Result:
    found = re.search(r"@@BEGIN\n(.*?)@@END status=(\d+)", console, re.DOTALL)
    if found is None:
        raise RuntimeError(f"{name} ended without a result:\n{console[-3000:]}")
    return Result(int(found[2]), found[1])
