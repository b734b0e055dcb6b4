"""Checks that each package of cpp/ includes only the packages that it may use.

    python tools/check_layers.py [--objects build]

PACKAGES below lists what each package may include. Further rules:

- only `bind` sees Python, only `parallel` starts threads;
- a file named *_kernel.cpp is compiled once per instruction set, so it uses nothing that the linker
  could share between its copies: no standard headers but C's, no `std::` names but types of fixed
  size and memory functions. With --objects the compiled kernels are looked through as well.

import-linter checks the layers of src/bosquet/, but sees other libraries only as a whole, and private
modules like any others. So two more rules are checked here:

- only `_sklearn.py` touches the parts of scikit-learn that move;
- a package imports no private module and no private name of another package. The private modules and
  packages directly in src/bosquet/ belong to all packages.
"""

from __future__ import annotations

import argparse
import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CPP = ROOT / "cpp"
PACKAGE = ROOT / "src" / "bosquet"

# What each package may include besides itself. `bind` may include every package.
PACKAGES: dict[str, set[str]] = {
    "base": set(),
    "parallel": {"base"},
    "data": {"base", "parallel"},
    "losses": {"base", "parallel"},
    "trees": {"base", "parallel", "data"},
    "grow": {"base", "parallel", "data", "trees"},
    "boosting": {"base", "parallel", "data", "losses", "trees", "grow"},
    "cart": {"base", "parallel", "data", "trees"},
    "stump": {"base", "parallel", "data", "trees", "grow"},
    "experts": {"base"},
    "explain": {"base", "parallel", "data", "trees"},
    "vision": {"base", "parallel", "data", "trees", "grow", "stump"},
    "io": {"base", "trees"},
}
PACKAGES["bind"] = set(PACKAGES)

# Headers that belong to one package.
OWNERS = {
    "bind": re.compile(r"nanobind/.*|Python\.h"),
    "parallel": re.compile(
        r"thread|future|condition_variable|barrier|latch|semaphore|stop_token|pthread\.h|omp\.h"
    ),
}

KERNEL_HEADERS = {"cstddef", "cstdint", "cstring", "immintrin.h", "arm_neon.h"}
KERNEL_NAMES = re.compile(r"u?int(8|16|32|64)_t|size_t|ptrdiff_t|byte|memcpy|memset")

# Private names, and those that scikit-learn's releases have moved or changed.
MOVING = re.compile(r"sklearn\.(.*\._|_|__version__|utils\.(validation|fixes|_tags|get_tags|Tags))")

# A private module inside a package, or a private name in one of its modules.
PRIVATE = re.compile(r"bosquet\.(?P<package>\w+)\.(.*\.)?_(?!_)")

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<(?P<system>[^>]+)>|"(?P<own>[^"]+)")')
STANDARD_NAME = re.compile(r"\bstd::(\w+)")


def check_file(path: Path) -> Iterator[tuple[int, str]]:
    """Yields the line and the complaint of everything in one file that a rule forbids."""
    package = path.relative_to(CPP).parts[0]
    if package not in PACKAGES:
        yield 1, f"package '{package}' has no layer: add it to PACKAGES in tools/check_layers.py"
        return
    is_kernel = path.name.endswith("_kernel.cpp")
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        include = INCLUDE.match(line)
        if include and include["own"]:
            used = include["own"].split("/")[0]
            if used != package and used not in PACKAGES[package]:
                yield number, f"'{package}' may not use '{used}' ({include['own']})"
        elif include:
            header = include["system"]
            for owner, pattern in OWNERS.items():
                if owner != package and pattern.fullmatch(header):
                    yield number, f"only '{owner}' may include <{header}>"
            if is_kernel and header not in KERNEL_HEADERS:
                yield number, f"a kernel may not include <{header}>"
        elif is_kernel:
            for name in STANDARD_NAME.findall(line.split("//")[0]):
                if not KERNEL_NAMES.fullmatch(name):
                    yield number, f"a kernel may not use std::{name}"


def check_object(path: Path, isa: str) -> Iterator[str]:
    """Yields the functions of a compiled kernel that the linker might hand to other code.

    A weak symbol exists once in the library, whoever needs it. One that was compiled for a newer
    instruction set, and does not carry its name, could end up in code that runs on every processor.
    """
    command = ["nm", "--demangle", "--defined-only", str(path)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in listing.stdout.splitlines():
        _, kind, name = line.split(maxsplit=2)
        if kind in "WVu" and isa not in name:
            yield name


def check_python(path: Path) -> Iterator[tuple[int, str]]:
    """Yields the imports of scikit-learn's moving parts and of other packages' private parts in one file."""
    package = path.relative_to(PACKAGE).parts[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if MOVING.match(name) and path.name != "_sklearn.py":
                yield node.lineno, f"only _sklearn.py may import {name}"
            private = PRIVATE.match(name)
            if private and private["package"] != package:
                yield (
                    node.lineno,
                    f"only '{private['package']}' may import {name}, which is private",
                )


def check_test_names() -> Iterator[str]:
    """pytest imports tests by the name of their file alone: two of one name cannot be collected together."""
    first: dict[str, Path] = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        other = first.setdefault(path.name, path)
        if other != path and path.name not in {"conftest.py", "__init__.py"}:
            yield f"{path.relative_to(ROOT)} has the name of {other.relative_to(ROOT)}: rename it"


def main() -> int:
    """Prints every complaint; returns 1 if there was one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--objects", type=Path, help="build directory with compiled kernels")
    given = parser.parse_args()

    complaints = list(check_test_names())
    files = sorted(path for path in CPP.rglob("*") if path.suffix in {".cpp", ".hpp"})
    for path in files:
        for number, complaint in check_file(path):
            complaints.append(f"{path.relative_to(ROOT)}:{number}: {complaint}")
    for path in sorted(PACKAGE.rglob("*.py")):
        for number, complaint in check_python(path):
            complaints.append(f"{path.relative_to(ROOT)}:{number}: {complaint}")

    objects = 0
    if given.objects and shutil.which("nm"):
        for path in sorted(given.objects.rglob("*_kernel.cpp.o")):
            isa = re.search(r"bosquet_kernels_(\w+)\.dir", str(path))
            if isa is None or isa[1] == "baseline":
                continue
            objects += 1
            for name in check_object(path, isa[1]):
                complaints.append(f"{path}: the linker may share {name} with other code")

    print("\n".join(complaints) or f"layers: {len(files)} files and {objects} kernels checked")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
