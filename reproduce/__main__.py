"""`make reproduce DATA=folder`: print published and own values, and whether they agree."""

import argparse
import sys
import time

from reproduce import boosting, experts, forests, heart, hitters, vision

WORKS = {
    "hitters": hitters.two_cuts,
    "breiman-2001": forests.breiman_2001,
    "breiman-1996": forests.breiman_1996,
    "esl-spam": forests.esl_spam,
    "esl-10.2": boosting.esl_10_2,
    "breiman-2001-adaboost": boosting.breiman_adaboost,
    "freund-schapire-1996": boosting.freund_schapire,
    "esl-spam-boosted": boosting.spam_boosted,
    "esl-heart": heart.logistic,
    "opera": experts.electric_load,
    "faces-vs-cars": vision.faces_vs_cars,
    "cbcl-faces": vision.cbcl_faces,
}


def main():
    parser = argparse.ArgumentParser(prog="python -m reproduce", description=__doc__)
    parser.add_argument("--data", required=True, help="folder that holds one folder a table")
    parser.add_argument("--only", nargs="+", choices=list(WORKS), default=list(WORKS))
    given = parser.parse_args()
    far = 0
    print("| figure | theirs | ours | within | |")
    print("| --- | --- | --- | --- | --- |")
    for name in given.only:
        start = time.perf_counter()
        for what, theirs, ours, within in WORKS[name](given.data):
            # A distance, or the range of our value.
            low, high = within if isinstance(within, tuple) else (theirs - within, theirs + within)
            good = low <= ours <= high
            far += not good
            span = f"{low:g} to {high:g}" if isinstance(within, tuple) else f"{within:g}"
            print(f"| {what} | {theirs:.7g} | {ours:.7g} | {span} | {'yes' if good else 'NO'} |")
            sys.stdout.flush()
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
