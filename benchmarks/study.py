"""Studies compared with a tuned LightGBM, FLAML and AutoGluon: `python -m benchmarks.study --data folder`.

All systems have the same training rows and the same seconds, one after the other, and are compared on
the same test rows. Default gradient boosting, without a time limit, is included: no study should be
worse. Every fit runs in a separate process (`benchmarks.study_fit`), FLAML and AutoGluon in separate
environments, which `make bench-study` creates; a system that is not installed is left out.

`study_tables.py` has the tables, in two lists; `--tables final` is for the final measurement. Each
result is stored immediately in the folder that is printed at the start; `--resume folder` continues a
run. The data are not part of the project: one folder per table, with a data.parquet in it.
`benchmarks.study_rare` compares studies with imbalanced-learn.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import pandas as pd

from benchmarks.machine import describe
from benchmarks.study_fit import SYSTEMS
from benchmarks.study_report import OURS, draws_of_difference, loss, report, row_losses
from benchmarks.study_tables import DEVELOPMENT, FINAL, TABLES, read, split, units

ROOT = Path(__file__).parents[1]
LISTS = {"development": DEVELOPMENT, "final": FINAL, "all": TABLES}


def interpreter(system, peers):
    """Return the Python interpreter that has the system."""
    folder = {"FLAML": "flaml", "AutoGluon": "autogluon", "AutoGluon best": "autogluon"}
    return peers / folder[system] / "bin/python" if system in folder else Path(sys.executable)


def fitted(system, job, folder, peers):
    """Run one fit; return its result, or {"missing": ...} or {"error": ...}."""
    python = interpreter(system, peers)
    if not python.exists():
        return {"missing": f"there is no {python}"}
    files = {name: folder / name for name in ("job.json", "outcome.json", "predictions.parquet")}
    for file in files.values():
        file.unlink(missing_ok=True)
    job = job | {"system": system, "outcome": str(files["outcome.json"])}
    job["predictions"] = str(files["predictions.parquet"])
    files["job.json"].write_text(json.dumps(job), encoding="utf-8")
    command = [str(python), "-W", "ignore", "-m", "benchmarks.study_fit", str(files["job.json"])]
    # Spinning OpenMP threads make LightGBM several times slower on a busy machine.
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}
    # Default boosting has no time limit; the others get some extra time to end.
    limit = 3600 + 5 * job["seconds"]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, errors="replace",
            timeout=limit,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {limit:.0f} seconds"}
    if done.returncode:
        messages = done.stderr.strip().splitlines()
        return {"error": messages[-1][:300] if messages else f"exit code {done.returncode}"}
    return json.loads(files["outcome.json"].read_text(encoding="utf-8"))


def kept(file):
    """Return the lines of an earlier run; the last one may be incomplete."""
    lines = []
    if file.exists():
        for text in file.read_text(encoding="utf-8").splitlines():
            try:
                lines.append(json.loads(text))
            except json.JSONDecodeError:
                print(f"{file} has a line that is cut off: its fit is repeated")
    return lines


def predictions_file(out, name, number, system):
    return out / f"{name}-{number}-{system.replace(' ', '_')}.parquet"


def measure(data, out, settings, peers):
    """Run the fits that are not in the folder, alternating the systems; return all lines."""
    lines = [x for x in kept(out / "lines.jsonl") if "error" not in x]
    # The file is written again without an incomplete last line.
    (out / "lines.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines), encoding="utf-8")
    done = {(x["table"], x["split"], x["system"]) for x in lines}
    turn = 0
    for number in settings["splits"]:
        for name in settings["tables"]:
            todo = [s for s in settings["systems"] if (name, number, s) not in done]
            if not todo:
                continue
            # The order of the systems varies.
            turn += 1
            todo = todo[turn % len(todo) :] + todo[: turn % len(todo)]
            for line in fits_of(data, out, name, number, todo, settings["seconds"], peers):
                lines.append(line)
                with (out / "lines.jsonl").open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
    return lines


def fits_of(data, out, name, number, systems, seconds, peers):
    """Yield a line for each system on one split of a table."""
    table = TABLES[name]
    train, test = split(read(data / name / "data.parquet", table), table, number)
    y = test[table.target]
    with tempfile.TemporaryDirectory(prefix="bench-study-") as temporary:
        folder = Path(temporary)
        train.to_parquet(folder / "train.parquet")
        test.to_parquet(folder / "test.parquet")
        job = {
            "train": str(folder / "train.parquet"), "test": str(folder / "test.parquet"),
            "target": table.target, "metric": table.metric, "seconds": seconds,
            "task": "regression" if table.metric == "rmse" else "classification",
            "time": table.time, "group": table.group,
        }  # fmt: skip
        for system in systems:
            outcome = fitted(system, job, folder, peers)
            if "missing" in outcome:
                print(f"{name}, split {number}: {system} is not installed ({outcome['missing']})")
                continue
            line = {
                "table": name, "split": number, "system": system, "training rows": len(train), **outcome
            }  # fmt: skip
            if "error" not in outcome:
                predictions = pd.read_parquet(folder / "predictions.parquet")
                predictions.to_parquet(predictions_file(out, name, number, system))
                values = row_losses(y, predictions, table.metric)
                line["loss"] = float(loss(values, y, table.metric))
            print(*cells(line), sep=" | ", flush=True)
            yield line


def cells(line):
    start = [line["table"], f"split {line['split']}", line["system"]]
    if "error" in line:
        return [*start, f"failed: {line['error']}"]
    spent = f"{line['seconds']:.0f} s, {line['megabytes']} MB"
    return [*start, f"{line['loss']:.5g}", line["chosen"], spent]


def differences_of(data, out, lines):
    """{(table, system): {split: draws of the difference to the study}}.

    Only where both systems have a loss on all splits.
    """
    found = {}
    scored = {(x["table"], x["split"], x["system"]) for x in lines if "loss" in x}
    for name, number in dict.fromkeys((x["table"], x["split"]) for x in lines):
        if (name, number, OURS) not in scored:
            continue
        table = TABLES[name]
        _, test = split(read(data / name / "data.parquet", table), table, number)
        y, drawn = test[table.target], units(test, table)
        values = {
            system: row_losses(
                y, pd.read_parquet(predictions_file(out, name, number, system)), table.metric
            )
            for system in SYSTEMS
            if (name, number, system) in scored
        }
        for system in values:
            if system != OURS:
                found.setdefault((name, system), {})[number] = draws_of_difference(
                    values[OURS], values[system], y, table.metric, drawn, seed=number
                )
    splits = {name: len({x["split"] for x in lines if x["table"] == name}) for name, _ in found}
    return {key: draws for key, draws in found.items() if len(draws) == splits[key[0]]}


def table_names(given):
    """Return names of tables, in the given order, from names of lists and of tables."""
    names = []
    for word in given:
        if word not in LISTS and word not in TABLES:
            accepted = ", ".join([*LISTS, *TABLES])
            raise SystemExit(
                f"--tables {word}: there is no such list or table; accepted: {accepted}"
            )
        names += LISTS.get(word, [word])
    return list(dict.fromkeys(names))


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.study",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tables", nargs="+", default=["development"], help="lists or tables")
    parser.add_argument("--splits", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--seconds", type=float, default=120, help="for each system with a limit")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--peers", type=Path, default=ROOT / ".venv-peers")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results")
    parser.add_argument("--resume", type=Path, help="the folder of a run that was stopped")
    given = parser.parse_args()
    if given.resume:
        out = given.resume
        settings = json.loads((out / "settings.json").read_text(encoding="utf-8"))
    else:
        out = given.out / f"study-{datetime.now():%Y%m%d-%H%M%S}"
        out.mkdir(parents=True)
        settings = {
            "tables": table_names(given.tables), "splits": given.splits, "seconds": given.seconds,
            "systems": given.systems, "machine": describe(),
        }  # fmt: skip
        (out / "settings.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    # The running fit ends too, as after Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"results in {out}; go on after a stop with --resume {out}", flush=True)
    lines = measure(given.data, out, settings, given.peers)
    differences = differences_of(given.data, out, lines)
    text = report(lines, differences, settings["machine"], settings["seconds"])
    print("\n" + text)
    (out / "report.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
