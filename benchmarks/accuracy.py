"""Rank the libraries' defaults on real data: `python -m benchmarks.accuracy --data DIR`.

35 tables and small samples of the large ones (`real.py`), five seeded splits each, every library's
scikit-learn class with its defaults. Defaults are chosen with `--tasks choice` and reported with
`--tasks report`. The scores of the peers can be stored in a file (`--cache`), so that only our own fits are
repeated:

    python -m benchmarks.accuracy --data DIR --cache FILE --tasks choice \\
        --ours 'small={"max_leaf_nodes": 15}' --ours 'large={"max_leaf_nodes": 63}'
"""

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path

from benchmarks import ranks, real
from benchmarks.cache import ScoreCache
from benchmarks.defaults import PEERS, bosquet
from benchmarks.score import test_loss


def evaluate(problem, library, seed):
    """Fit one library on one split; return a record of loss and seconds, or of the error."""
    X_train, X_test, y_train, y_test = real.split(problem, seed)
    try:
        model, adapt = library(problem.task, seed, problem.categorical)
        X_train, X_test = adapt(X_train), adapt(X_test)
        start = time.perf_counter()
        model.fit(X_train, y_train)
        fitted = time.perf_counter()
        loss = test_loss(model, X_test, y_test, problem.task)
        done = time.perf_counter()
    except Exception as error:  # a peer that fails is reported in the table
        return {"error": f"{type(error).__name__}: {error}"}
    return {"loss": loss, "fit": fitted - start, "predict": done - fitted}


def run_study(problems, libraries, seeds, cache):
    """Add every missing (table, library, split) to `cache`."""
    for label, library in libraries.items():
        for problem in problems:
            for seed in seeds:
                held = cache.get(problem.name, label, seed)
                if held is not None and "error" not in held:
                    continue
                record = evaluate(problem, library, seed)
                cache.put(problem.name, label, seed, record)
                shown = record.get("error") or f"{record['loss']:.6g} in {record['fit']:.1f} s"
                print(f"{problem.name} / {label} / split {seed}: {shown}", flush=True)


def parse_ours(text):
    """Parse a value of --ours, `name={json}` or `{json}`, as (label, parameters)."""
    name, brace, rest = text.partition("{")
    parameters = json.loads(brace + rest) if brace else {}
    name = name.rstrip("=: ") or ", ".join(f"{k}={v}" for k, v in parameters.items())
    return (f"Bosquet {name}".rstrip(), parameters)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--data", required=True, help="folder that holds one folder a table")
    parser.add_argument("--cache", help="JSON file that keeps the peers' scores between runs")
    parser.add_argument(
        "--ours",
        action="append",
        metavar="NAME=JSON",
        help="a configuration of ours to rank (repeat for several; none: the defaults)",
    )
    parser.add_argument("--keep-ours", action="store_true", help="cache our scores as well")
    parser.add_argument("--peers-only", action="store_true", help="only fill the peers' scores")
    parser.add_argument("--peers", nargs="*", choices=list(PEERS), default=list(PEERS))
    parser.add_argument(
        "--tasks", nargs="+", default=["all"], help="ten, choice, report, all, or names of tasks"
    )
    parser.add_argument("--max-rows", type=int, help="leave out tasks of more training rows")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument(
        "--first-seed",
        type=int,
        default=0,
        help="seed of the first split, to judge defaults on splits they were not tuned on",
    )
    parser.add_argument("--no-fit-peers", action="store_true", help="use cached peers only")
    parser.add_argument("--out", default=Path(__file__).parent / "results")
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse_arguments(arguments)
    problems = [real.load(options.data, name) for name in real.task_names(options.tasks)]
    if options.max_rows:
        problems = [p for p in problems if real.n_train(p) <= options.max_rows]
    seeds = range(options.first_seed, options.first_seed + options.splits)

    peers = {label: PEERS[label] for label in options.peers}
    cache = ScoreCache(options.cache)
    if not options.no_fit_peers:
        run_study(problems, peers, seeds, cache)

    ours = {}
    if not options.peers_only:
        configurations = dict(parse_ours(text) for text in options.ours or ["default={}"])
        ours = {label: partial(bosquet, **given) for label, given in configurations.items()}
    kept = cache if options.keep_ours else ScoreCache()
    run_study(problems, ours, seeds, kept)

    table = ranks.collect(cache, kept, list(peers), list(ours), problems, seeds)
    text = ranks.to_markdown(table)
    print("\n" + text)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "accuracy.md").write_text(text)
    (out / "accuracy.json").write_text(json.dumps(table, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
