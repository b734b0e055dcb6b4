"""Builds the core with sanitizers and runs the tests of the core on it.

    python tools/sanitize.py [address] [thread] [-- arguments of pytest]

address  AddressSanitizer and UndefinedBehaviorSanitizer: memory errors, overflows, bad conversions
thread   ThreadSanitizer: data races

Each has a build directory of its own, build-sanitize/<name>. Python itself is not sanitized: the
runtime of the sanitizer is loaded before it (LD_PRELOAD), and tools/sanitized/sitecustomize.py makes
every process load the sanitized core. A report ends the process, so that its test fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SANITIZED = ROOT / "tools" / "sanitized"
# The libraries of a sanitizer are those of the compiler that the core is built with.
COMPILER = os.environ.get("CXX", "g++")

# The tests that call the core directly, or that drive it in ways that nothing else does.
TESTS = [
    "bind",
    "boosting",
    "grow",
    "losses",
    "stump",
    "trees",
    "io",
    "explain",
    "vision",
    "experts",
    "reliability/test_threads.py",
]

# Tests that are not useful with a sanitizer, with the reason.
LEFT_OUT = {
    "tests/boosting/gradient/test_memory.py": "a sanitizer takes memory of its own",
    "tests/io/test_hostile_files.py::"
    "test_memory_and_time_of_a_load_are_bounded_by_the_size_of_the_file": "as above",
    # The allocator of the sanitizer has locks, which a child copies while they are held.
    "tests/trees/test_threads_and_forks.py::test_a_child_forked_while_threads_predict_predicts": "locks",
}

# A sanitizer multiplies the memory that hostile calls request, and the machine would run out of memory.
LARGEST_ALLOCATION = "max_allocation_size_mb=2048"


@dataclass(frozen=True)
class Sanitizer:
    """Options to build and load a sanitizer."""

    flag: str
    libraries: tuple[str, ...]
    options: dict[str, str]
    # Packages that crash when they are imported. Tests that import them are left out: by their file,
    # or by their name.
    breaks: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


SANITIZERS = {
    "address": Sanitizer(
        "address,undefined,float-cast-overflow",
        # libstdc++ too: libasan looks for __cxa_throw when it is loaded.
        ("libasan.so", "libstdc++.so"),
        {
            # CPython and NumPy keep memory until the process ends, which is not a leak of the core.
            # tests/io/fuzz_reader.cpp, which has no Python in it, is checked for leaks.
            "ASAN_OPTIONS": f"detect_leaks=0:allocator_may_return_null=1:{LARGEST_ALLOCATION}",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
            "PYTHONMALLOC": "malloc",
        },
    ),
    "thread": Sanitizer(
        "thread",
        ("libtsan.so", "libstdc++.so"),
        # The synchronisation of NumPy, OpenCV and others is invisible: only reports of the core count.
        {
            "TSAN_OPTIONS": "halt_on_error=1:ignore_noninstrumented_modules=1:exitcode=66:"
            + LARGEST_ALLOCATION
        },
        breaks=("polars", "statsmodels"),
        broken=("binomial", "linear", "poisson", "multinomial", "regression_model"),
    ),
}


def build(name: str) -> Path:
    """Compile the core with a sanitizer; return the extension module."""
    folder = ROOT / "build-sanitize" / name
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja"]
    configure += ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", f"-DPython_EXECUTABLE={sys.executable}"]
    configure += [f"-DBOSQUET_SANITIZE={SANITIZERS[name].flag}", f"-DCMAKE_CXX_COMPILER={COMPILER}"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path}
    subprocess.run(configure, check=True, env=environment, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(folder)], check=True, env=environment)
    return folder / f"_core{sysconfig.get_config_var('EXT_SUFFIX')}"


def library(name: str) -> str:
    """Return where the compiler keeps a runtime library."""
    done = subprocess.run(
        [COMPILER, f"-print-file-name={name}"], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def environment_of(name: str, core: Path) -> dict[str, str]:
    """Return the variables with which Python loads the sanitized core."""
    sanitizer = SANITIZERS[name]
    return {
        **os.environ,
        **sanitizer.options,
        "LD_PRELOAD": " ".join(library(one) for one in sanitizer.libraries),
        "BOSQUET_CORE": str(core),
        "PYTHONPATH": str(SANITIZED),
        "OPENBLAS_NUM_THREADS": "1",
    }


def run_tests(name: str, core: Path, arguments: list[str]) -> bool:
    """Run the tests of the core on the sanitized core; return whether they passed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += arguments or [str(ROOT / "tests" / folder) for folder in TESTS]
    command += [f"--deselect={path}" for path in LEFT_OUT]
    sanitizer = SANITIZERS[name]
    command += [f"--ignore={path}" for path in files_that_name(sanitizer.breaks)]
    if sanitizer.broken:
        command += ["-k", f"not ({' or '.join(sanitizer.broken)})"]
    done = subprocess.run(command, cwd=ROOT, env=environment_of(name, core), check=False)
    # A report ends the process, and pytest does not print what a test had written by then.
    if done.returncode not in (0, 1):
        print(
            f"sanitize: pytest ended with exit code {done.returncode}; run it with '-- -v -s' to see why"
        )
    return done.returncode == 0


def files_that_name(packages: tuple[str, ...]) -> list[Path]:
    """Return the tests that may import one of some packages."""
    files = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    return sorted(path for path, text in files.items() if any(one in text for one in packages))


def run_reader() -> bool:
    """Run the native program that feeds damaged files to the reader; leaks are looked for too."""
    test = "tests/io/test_hostile_files.py::test_the_reader_is_clean_under_sanitizers"
    command = [sys.executable, "-m", "pytest", "-q", "-m", "slow", test]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def main() -> int:
    """Build and test with each selected sanitizer; return 1 if one reported an error."""
    given = sys.argv[1:]
    arguments = given[given.index("--") + 1 :] if "--" in given else []
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=[], metavar="sanitizer")
    names = parser.parse_args(given[: given.index("--")] if "--" in given else given).names
    libraries = {one for name in names or SANITIZERS for one in SANITIZERS[name].libraries}
    if shutil.which(COMPILER) is None or not all(map(os.path.isabs, map(library, libraries))):
        print(f"sanitize: skipped, {COMPILER} or its sanitizer libraries are not installed")
        return 0
    failed = []
    for name in names or list(SANITIZERS):
        print(f"sanitize: building with {SANITIZERS[name].flag}", flush=True)
        core = build(name)
        if not run_tests(name, core, arguments):
            failed.append(name)
    if not arguments and "address" in (names or SANITIZERS) and not run_reader():
        failed.append("reader of files")
    print(f"sanitize: {'reports of ' + ', '.join(failed) if failed else 'clean'}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
