"""The machines a bundle is made for: what pip calls them and how the markers of a lock read there.

Source: PEP 425 and PEP 600 (platform tags), PEP 508 (markers).
"""

from __future__ import annotations

from dataclasses import dataclass

VERSIONS = ("3.11", "3.12", "3.13")
# The one version whose «embeddable package» the bundle for Windows carries.
EMBEDDED = "3.11"
_GLIBC = ("manylinux_2_28", *(f"manylinux_2_{minor}" for minor in range(27, 16, -1)), "manylinux2014")
_OLD_GLIBC = ("manylinux_2_12", "manylinux2010", "manylinux_2_5", "manylinux1")


@dataclass(frozen=True, slots=True)
class Platform:
    """A kind of machine."""

    name: str
    tags: tuple[str, ...]
    system: str  # sys.platform
    system_name: str  # platform.system()
    machine: str  # platform.machine()

    @property
    def carries_python(self) -> bool:
        """Whether the bundle brings its own Python; elsewhere that of the machine is used."""
        return self.system == "win32"

    def markers(self, python: str) -> dict[str, str]:
        """What the markers of a lock are compared with."""
        return {
            "sys_platform": self.system,
            "platform_system": self.system_name,
            "platform_machine": self.machine,
            "os_name": "nt" if self.system == "win32" else "posix",
            "platform_python_implementation": "CPython",
            "implementation_name": "cpython",
            "python_version": python,
            "python_full_version": f"{python}.0",
            "extra": "",
        }


PLATFORMS = (
    Platform("win_amd64", ("win_amd64",), "win32", "Windows", "AMD64"),
    Platform(
        "manylinux_x86_64",
        tuple(f"{kind}_x86_64" for kind in (*_GLIBC, *_OLD_GLIBC)),
        "linux",
        "Linux",
        "x86_64",
    ),
    Platform("manylinux_aarch64", tuple(f"{kind}_aarch64" for kind in _GLIBC), "linux", "Linux", "aarch64"),
    Platform("macosx_arm64", ("macosx_14_0_arm64",), "darwin", "Darwin", "arm64"),
)
NAMES = tuple(platform.name for platform in PLATFORMS)


def platform_named(name: str) -> Platform:
    """The platform of a name in `NAMES`."""
    return next(platform for platform in PLATFORMS if platform.name == name)
