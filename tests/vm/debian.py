"""Debian packages of any architecture and suite, unpacked into a folder; nothing is installed on this machine.

A private apt root uses the mirror that this machine's own apt already uses.
"""

import os
import re
import subprocess
from pathlib import Path

CONFIGURATION = """\
Dir "{root}";
Dir::State "{root}/var/lib/apt";
Dir::State::status "{root}/var/lib/dpkg/status";
Dir::Cache "{root}/var/cache/apt";
Dir::Etc "{root}/etc/apt";
APT::Architecture "{arch}";
APT::Architectures {{ "{arch}"; }};
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Acquire::Check-Valid-Until "false";
Debug::NoLocking "1";
"""

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Packages:
    """The packages of one architecture and suite, as the mirror has them now; `folder` becomes their apt root."""

    def __init__(self, folder: Path, arch: str, suite: str) -> None:
        self.root = folder
        self.environment = {**os.environ, "APT_CONFIG": str(self.root / "apt.conf")}
        for name in ("etc/apt/preferences.d", "etc/apt/apt.conf.d", "var/lib/apt/lists/partial",
                     "var/cache/apt/archives/partial", "var/lib/dpkg"):  # fmt: skip
            (self.root / name).mkdir(parents=True, exist_ok=True)
        (self.root / "var/lib/dpkg/status").write_text("")
        (self.root / "etc/apt/sources.list").write_text(f"deb [signed-by={KEYRING}] {_mirror()} {suite} main\n")
        (self.root / "apt.conf").write_text(CONFIGURATION.format(root=self.root, arch=arch))
        self._run("apt-get", "-q", "-o", "APT::Update::Error-Mode=any", "update")

    def _run(self, *command: str, cwd: Path | None = None) -> str:
        done = subprocess.run(command, env=self.environment, cwd=cwd, check=False, text=True, capture_output=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def dependency(self, package: str, prefix: str) -> str:
        """Give the first dependency of `package` whose name starts with `prefix` (a kernel's real image)."""
        found = re.search(rf"Depends: ({re.escape(prefix)}\S*)", self._run("apt-cache", "depends", package))
        if found is None:
            raise RuntimeError(f"{package} depends on no {prefix}*")
        return found[1]

    def download(self, package: str, folder: Path) -> None:
        """Download one package without its dependencies."""
        self._run("apt-get", "-qq", "download", package, cwd=folder)

    def download_with_dependencies(self, packages: list[str], folder: Path) -> None:
        """Download packages and all that they depend on."""
        self._run("apt-get", "-qq", "-y", "--no-install-recommends", "--download-only",
                  "-o", f"Dir::Cache::archives={folder}", "install", *packages)  # fmt: skip


def _mirror() -> str:
    """Give the address of the Debian mirror that this machine's apt uses."""
    lists = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    texts = [file.read_text() for file in lists if file.is_file()]
    # Other vendors' lists may stand beside Debian's: its own are those that its keyring signs.
    for text in sorted(texts, key=lambda text: KEYRING not in text):
        if found := re.search(r"^(?:URIs: *|deb (?:\[[^]]*\] )?)(\S+)", text, re.MULTILINE):
            return found[1]
    raise RuntimeError("this machine has no apt source")
