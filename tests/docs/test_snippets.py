"""The snippets of a page run in order and print the output that the page shows."""

import doctest
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
if not (ROOT / "docs").is_dir():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)

plt = pytest.importorskip("matplotlib.pyplot")
# A snippet and, in a block without a language, what it prints.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\s*^```\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
PAGES = [
    page for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if BLOCK.search(page.read_text(encoding="utf-8"))
]  # fmt: skip
SLOW = {"start.md", "study.md"}  # a study takes some seconds, even a small one
# The same calls with less work, so that the tests are fast.
SMALLER = {
    "start.md": [('budget="1m"', 'budget="5s"')],
    "study.md": [('budget="2m"', 'budget="5s"')],
    "haar.md": [("window=(24, 24)", "window=(12, 12)"), ("n_estimators=100", "n_estimators=6")],
    "vision.md": [
        ("2000", "60"),
        ("(24, 24)", "(12, 12)"),
        ('checkpoint="f', 'n_stages=2, checkpoint="f'),
    ],
}


def customers():
    random = np.random.default_rng(0)
    table = pd.DataFrame({"age": random.integers(18, 80, 200), "calls": random.poisson(2, 200)})
    table["contract"] = random.choice(["month", "year"], 200)
    churned = random.random(200) < 0.1 + 0.15 * table.calls.clip(upper=5)
    table.assign(churned=np.where(churned, "yes", "no")).to_csv("customers.csv", index=False)


def heart_disease():
    random = np.random.default_rng(4)
    names = ["sbp", "tobacco", "ldl", "obesity", "alcohol", "age"]
    table = pd.DataFrame(random.normal(30, 9, size=(300, 6)), columns=names)
    table["famhist"] = random.choice(["Absent", "Present"], 300)
    line = 0.06 * (table.age - 30) + 0.05 * (table.tobacco - 30) + (table.famhist == "Present") - 1
    ill = (random.random(300) < 1 / (1 + np.exp(-line))).astype(int)
    table.assign(chd=ill).to_csv("SAheart.data")


def pictures():
    from PIL import Image

    random = np.random.default_rng(0)
    sides = {"faces": 24, "cars": 24, "pictures-without-faces": 90}
    for folder, side in sides.items():
        Path(folder).mkdir()
        for i in range(12):
            levels = random.integers(100, 255, size=(side, side), dtype=np.uint8)
            if folder == "faces":
                levels[6:10, 4:20] //= 4
            Image.fromarray(levels).save(f"{folder}/{i}.png")
    Image.fromarray(levels).save("group.jpg")
    for marked in ("info.dat", "test.dat"):
        Path(marked).write_text("group.jpg 2 40 30 24 24 10 20 30 30\n")


# Files that the snippets of a page read.
FILES = {
    "glm.md": heart_disease,
    "haar.md": pictures,
    "study.md": customers,
    "vision.md": pictures,
}


def snippets(page):
    """Return the line of each snippet, its code, and the output that the page shows, or None."""
    text = page.read_text(encoding="utf-8")
    for once, instead in SMALLER.get(page.name, []):
        assert once in text
        text = text.replace(once, instead)
    for found in BLOCK.finditer(text):
        yield text.count("\n", 0, found.start(1)), *found.groups()


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, id=p.name, marks=[pytest.mark.slow] * (p.name in SLOW)) for p in PAGES],
)
def test_the_snippets_of_a_page_run_in_order(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("Agg")
    FILES.get(page.name, lambda: None)()
    names = {"__name__": "__main__"}
    try:
        for line, code, shown in snippets(page):
            if code.startswith(">>>"):
                parsed = doctest.DocTestParser().get_doctest(code, names, page.name, None, line)
                found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(parsed)
                assert found.failed == 0
            else:
                capsys.readouterr()
                exec(compile("\n" * line + code, str(page), "exec"), names)
                if shown is not None:
                    assert capsys.readouterr().out.strip() == shown.strip()
    finally:
        plt.close("all")
