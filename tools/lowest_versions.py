"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

    python tools/lowest_versions.py test > pins.txt

Of each requirement of the package, of its build and of the extras named, the lowest version that the index
has for this Python. Run by the interpreter that the versions are for; it needs pip and nothing else.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.version import Version


def requirements(extras: list[str]) -> list[Requirement]:
    """What the package, its build and some of its extras need here."""
    with Path("pyproject.toml").open("rb") as file:
        table = tomllib.load(file)
    texts = [*table["build-system"]["requires"], *table["project"]["dependencies"]]
    for extra in extras:
        texts += table["project"]["optional-dependencies"][extra]
    found = [Requirement(text) for text in texts]
    return [one for one in found if one.marker is None or one.marker.evaluate()]


def versions(name: str) -> list[Version]:
    """The versions that the index has for this interpreter."""
    command = [sys.executable, "-m", "pip", "index", "versions", name]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    _, _, listed = output.partition("Available versions:")
    return [Version(text.strip()) for text in listed.splitlines()[0].split(",")]


def lowest(requirement: Requirement) -> Version:
    """The lowest version that a requirement allows."""
    allowed = requirement.specifier.filter(versions(requirement.name))
    return min(allowed, default=None) or sys.exit(f"the index has no {requirement}")


def main() -> None:
    pins = {one.name: lowest(one) for one in requirements(sys.argv[1:])}
    for name, version in sorted(pins.items()):
        print(f"{name}=={version}")


if __name__ == "__main__":
    main()
