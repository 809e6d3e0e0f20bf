"""Guest images: one of Debian's kernels, and an initramfs with Python, bubblewrap and the usual tools."""

import fcntl
import gzip
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.vm.archive import entries_of, pack
from tests.vm.debian import Packages

GUEST = Path(__file__).parent / "guest"
PYTHON = {"bookworm": "3.11", "trixie": "3.13"}
APPLETS = (
    "sh", "mount", "umount", "cat", "ls", "mkdir", "reboot", "setsid", "stty", "id", "ps", "sleep", "echo", "uname",
    "chmod", "ip", "mknod", "su", "env", "true",
)  # fmt: skip
TOOLS = ("dash", "coreutils", "util-linux", "util-linux-extra", "grep", "hostname")
"""What tests call inside of sandboxes, as on an installed system; busybox stands for the rest."""

DROPPED = ("share/doc", "share/man", "share/locale", "share/info", "share/lintian", "share/perl5")
DROPPED_PYTHON = ("test", "idlelib", "lib2to3", "ensurepip", "tkinter", "pydoc_data")


class Image(NamedTuple):
    """A guest: Debian's name of the architecture, the suite of kernel and userland, the kernel's package."""

    arch: str
    suite: str
    kernel: str

    @property
    def name(self) -> str:
        """What tests call it."""
        return f"{self.arch}-{self.suite}"


IMAGES = {
    image.name: image
    for image in (
        Image("amd64", "bookworm", "linux-image-cloud-amd64"),
        Image("amd64", "trixie", "linux-image-cloud-amd64"),
        Image("arm64", "bookworm", "linux-image-cloud-arm64"),
        Image("arm64", "trixie", "linux-image-cloud-arm64"),
        Image("s390x", "bookworm", "linux-image-s390x"),
        Image("riscv64", "trixie", "linux-image-riscv64"),
    )
}


def cache_folder() -> Path:
    """Give the folder that keeps images: `SBC_LAB`, else one below the user's cache."""
    return Path(os.environ.get("SBC_LAB") or Path.home() / ".cache" / "sbc-guests")


def build(image: Image) -> Path:
    """Give the folder with an image's `vmlinuz` and `initrd.cpio`; they are made where they are not there."""
    folder = cache_folder() / "images" / image.name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{image.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _build(image, folder)
    return folder


def _build(image: Image, folder: Path) -> None:
    version = PYTHON[image.suite]
    wanted = [f"python{version}-minimal", f"libpython{version}-stdlib", "busybox-static", "bubblewrap", *TOOLS]
    made = folder / "packages"
    if (folder / "initrd.cpio").exists() and made.exists() and made.read_text().split() == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    debs, root = folder / "debs", folder / "root"
    debs.mkdir(parents=True)
    packages = Packages(cache_folder() / "apt", image.arch, image.suite)
    kernel = packages.dependency(image.kernel, "linux-image-")
    packages.download(kernel, debs)
    packages.download_with_dependencies(wanted, debs)
    for package in sorted(debs.glob("*.deb")):
        target = folder / "kernel" if package.name.startswith("linux-image") else root
        subprocess.run(["dpkg-deb", "-x", package, target], check=True)
    _take_kernel(folder)
    _arrange(root, version)
    (folder / "initrd.tmp").write_bytes(pack(entries_of(root)))
    (folder / "initrd.tmp").rename(folder / "initrd.cpio")
    made.write_text("\n".join(wanted))
    for spent in (debs, root, folder / "kernel"):
        shutil.rmtree(spent)


def _take_kernel(folder: Path) -> None:
    found = sorted([*folder.glob("kernel/boot/vmlinu?-*"), *folder.glob("kernel/usr/lib/modules/*/vmlinu?")])[0]
    content = found.read_bytes()
    (folder / "vmlinuz").write_bytes(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)


def _arrange(root: Path, version: str) -> None:
    """Make a merged /usr, busybox's applets, accounts, and our init; leave out what tests never read."""
    usr = root / "usr"
    for name in ("bin", "sbin", "lib", "lib64"):
        (usr / name).mkdir(parents=True, exist_ok=True)
        if (root / name).is_dir() and not (root / name).is_symlink():
            shutil.copytree(root / name, usr / name, symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(root / name)
        if not (root / name).is_symlink():
            (root / name).symlink_to(f"usr/{name}")
    for name in (*DROPPED, *(f"lib/python{version}/{package}" for package in DROPPED_PYTHON)):
        shutil.rmtree(usr / name, ignore_errors=True)
    for gconv in usr.glob("lib/*/gconv"):
        shutil.rmtree(gconv)
    (usr / "bin/python3").unlink(missing_ok=True)
    (usr / "bin/python3").symlink_to(f"python{version}")
    for applet in APPLETS:
        if not (usr / "bin" / applet).is_symlink() and not (usr / "bin" / applet).exists():
            (usr / "bin" / applet).symlink_to("busybox")
    for name in ("proc", "sys", "dev", "tmp", "run", "mnt", "job", "etc/alternatives", "root", "var/tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("tmp", "var/tmp"):
        (root / name).chmod(0o1777)
    (root / "etc/ld.so.cache").touch()  # an empty one is passed over
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\nuser:x:1000:\n")
    for script in ("init", "start"):
        shutil.copy(GUEST / script, root / script)
