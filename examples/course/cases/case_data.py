"""Tables of the case studies: the real tables if they are available, otherwise simulated ones.

The environment variable BOSQUET_DATA names the folder of the real tables, with the file name/data.parquet
for each table. A simulated table has the columns of the real one, or the most important of them, and a
target that is simulated by the rules below. So every page runs without the real data, with other results.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

OZONE_COLUMNS = {
    "V1": "month",
    "V2": "day",
    "V3": "weekday",
    "V4": "ozone",
    "V5": "pressure_height",
    "V6": "wind",
    "V7": "humidity",
    "V8": "temperature",
    "V9": "temperature_inland",
    "V10": "inversion_height",
    "V11": "pressure_gradient",
    "V12": "inversion_temperature",
    "V13": "visibility",
}


def table(name):
    """Return a table, and print whether it is real or simulated; ``attrs["real"]`` stores the same."""
    path = folder_of(name)
    if path is not None:
        frame = pd.read_parquet(path / "data.parquet").rename(
            columns=OZONE_COLUMNS if name == "ozone_la" else {}
        )
        print(f"{name}: the real table, {len(frame):,} rows of {frame.shape[1]} columns")
    else:
        frame = SIMULATED[name](np.random.default_rng(7))
        print(f"{name}: a simulated table, {len(frame):,} rows of {frame.shape[1]} columns")
    frame.attrs["real"] = path is not None
    return frame


def folder_of(name):
    """Return the folder of the real table, or None."""
    root = os.environ.get("BOSQUET_DATA")
    path = Path(root) / name if root else None
    return path if path is not None and (path / "data.parquet").exists() else None


def chance(log_odds, random):
    """Draw booleans that are True with these log odds."""
    return random.random(np.shape(log_odds)) < 1 / (1 + np.exp(-log_odds))


def census(random):
    """Simulate incomes: high for long education, middle age, married, long hours, capital gains."""
    n = 8000
    age = random.integers(17, 80, n)
    school = np.clip(random.normal(10, 2.6, n).round(), 1, 16).astype(int)
    married = chance((age - 32) / 8, random) & (random.random(n) < 0.75)
    hours = np.clip(random.normal(40, 11, n).round(), 5, 90).astype(int)
    gain = np.where(random.random(n) < 0.08, random.lognormal(8.3, 1, n), 0).round()
    jobs = np.array(["Adm-clerical", "Craft-repair", "Exec-managerial", "Other-service", "Sales"])
    job = random.choice(5, n, p=[0.2, 0.25, 0.2, 0.2, 0.15])
    line = -2.7 + 0.35 * (school - 10) - 0.0025 * (age - 48) ** 2 + 2.2 * married
    line += 0.03 * (hours - 40) + np.array([0, 0.1, 1.0, -1.0, 0.3])[job] + 5.0 * (gain > 6000)
    frame = pd.DataFrame(
        {
            "age": age,
            "education_num": school,
            "marital_status": np.where(married, "Married-civ-spouse", "Not-married"),
            "occupation": jobs[job],
            "hours_per_week": hours,
            "capital_gain": gain,
            "income": np.where(chance(line, random), ">50K", "<=50K"),
        }
    )
    frame.loc[random.random(n) < 0.05, "occupation"] = None
    return frame.astype({"marital_status": "category", "occupation": "category"})


def shells(random):
    """Simulate abalones: they grow fast and then slowly, so the size of old ones does not show their age."""
    n = 3000
    rings = np.clip(random.gamma(9, 1.1, n), 1, 29).round()
    length = 0.66 * (1 - np.exp(-0.22 * rings)) * random.normal(1, 0.08, n)
    whole = 8.5 * length**3 * random.normal(1, 0.08, n)
    return pd.DataFrame(
        {
            "sex": np.where(rings < 7, "I", random.choice(["M", "F"], n)),
            "length": length.round(3),
            "diameter": (0.8 * length * random.normal(1, 0.03, n)).round(3),
            "height": (0.28 * length * random.normal(1, 0.1, n)).round(3),
            "whole_weight": whole.round(4),
            "shucked_weight": (whole * (0.47 - 0.006 * rings) * random.normal(1, 0.05, n)).round(4),
            "viscera_weight": (0.22 * whole * random.normal(1, 0.1, n)).round(4),
            "shell_weight": (whole * (0.22 + 0.007 * rings) * random.normal(1, 0.05, n)).round(4),
            "rings": rings.astype(int),
        }
    ).astype({"sex": "category"})


def letters(random):
    """Simulate mail as word frequencies: some words are frequent in spam, some in other mail."""
    n = 2500
    spam = random.random(n) < 0.4
    words = {"free": 1.5, "remove": 2.0, "money": 1.6, "your": 0.8, "our": 0.5, "credit": 1.2}
    words |= {"george": -3.0, "hp": -2.5, "meeting": -2.0, "edu": -1.6, "project": -1.2, "re": -0.6}
    words |= {"will": 0.0, "people": 0.1, "mail": 0.2, "address": 0.1, "all": 0.2, "report": 0.0}
    frame = {}
    for word, pull in words.items():
        there = chance(-1.6 + pull * (spam - 0.4), random)
        frame[f"word_freq_{word}"] = (there * random.gamma(1.2, 0.6, n)).round(2)
    frame["char_freq_!"] = (chance(-1 + 2.2 * spam, random) * random.gamma(1, 0.4, n)).round(3)
    frame["char_freq_$"] = (chance(-2.5 + 2.5 * spam, random) * random.gamma(1, 0.2, n)).round(3)
    shouting = random.lognormal(np.where(spam, 1.5, 0.8), 0.7, n)
    frame["capital_run_length_average"] = (1 + shouting).round(2)
    return pd.DataFrame(frame).assign(**{"class": spam.astype(int)})


def players(random):
    """Simulate log salaries in three levels: newcomers, players with few hits, players with many hits."""
    n = 300
    years = random.integers(1, 20, n)
    hits = np.clip(random.normal(108, 45, n), 1, 238).round()
    log_salary = np.where(years < 4.5, 5.1, np.where(hits < 117.5, 6.0, 6.74))
    salary = np.exp(log_salary + random.normal(0, 0.5, n)).round(1)
    frame = pd.DataFrame(
        {
            "AtBat": (hits * random.normal(3.7, 0.3, n)).round(),
            "Hits": hits,
            "HmRun": random.poisson(hits / 10),
            "Runs": (hits * random.normal(0.5, 0.08, n)).round(),
            "Walks": random.poisson(38, n),
            "Years": years,
            "CHits": (years * random.normal(100, 20, n)).round(),
            "League": random.choice(["A", "N"], n),
            "Salary": np.where(random.random(n) < 0.15, np.nan, salary),
        }
    )
    return frame.astype({"League": "category"})


def hearts(random):
    """Simulate heart disease that depends on age, tobacco, cholesterol and family history only."""
    n = 462
    age = random.integers(15, 65, n)
    frame = pd.DataFrame(
        {
            "sbp": random.normal(120 + 0.4 * age, 18).round(),
            "tobacco": random.gamma(0.6, 0.15 * age).round(2),
            "ldl": random.gamma(5, 0.7 + 0.006 * age).round(2),
            "adiposity": random.normal(15 + 0.25 * age, 6).round(2),
            "famhist": random.choice(["Absent", "Present"], n, p=[0.58, 0.42]),
            "typea": random.normal(53, 10, n).round(),
            "obesity": random.normal(26, 4.2, n).round(2),
            "alcohol": random.exponential(17, n).round(2),
            "age": age,
        }
    )
    line = -4.2 + 0.08 * frame.tobacco + 0.17 * frame.ldl + 0.044 * age
    line += 0.92 * (frame.famhist == "Present")
    return frame.assign(chd=chance(line.to_numpy(), random).astype(int))


def smog(random):
    """Simulate ozone: high on hot days with a low inversion, lower with wind; some values are missing."""
    n = 366
    day = np.arange(n)
    warmth = 62 - 14 * np.cos(2 * np.pi * (day - 20) / 366)
    temperature = (warmth + random.normal(0, 8, n)).round()
    inversion = np.clip(4300 - 75 * (temperature - 45) + random.normal(0, 1100, n), 100, 5000)
    wind = random.poisson(5, n)
    line = 3 + 0.012 * np.maximum(temperature - 48, 0) ** 2 * (1.4 - inversion / 5000) - 0.3 * wind
    frame = pd.DataFrame(
        {
            "month": pd.Categorical(1 + np.minimum(day // 30.5, 11).astype(int)),
            "weekday": pd.Categorical(1 + day % 7),
            "ozone": np.clip(line + random.normal(0, 2.2, n), 1, None).round(),
            "wind": wind,
            "humidity": np.clip(random.normal(58, 20, n), 15, 95).round(),
            "temperature": temperature,
            "inversion_height": inversion.round(),
            "visibility": np.clip(random.normal(120, 75, n), 0, 350).round(-1),
        }
    )
    frame.loc[random.random(n) < 0.06, "inversion_height"] = np.nan
    frame.loc[random.random(n) < 0.02, "ozone"] = np.nan
    return frame


def loads(random):
    """Simulate the weekly load: yearly cycle, heating below 15 degrees, growth, autocorrelated errors."""
    n = 731
    week = np.arange(n)
    year = 2 * np.pi * week / 52.18
    temperature = 12 - 8 * np.cos(year - 0.3) + random.normal(0, 2, n)
    lingering = np.zeros(n)
    for t in range(1, n):
        lingering[t] = 0.6 * lingering[t - 1] + random.normal(0, 900)
    heating = np.maximum(15 - temperature, 0)
    load = 42_000 + 9 * week + 1500 * heating + 1800 * np.cos(year) + lingering
    return pd.DataFrame(
        {
            "Time": week + 1,
            "NumWeek": week % 52.18 / 52.18,
            "Load": load,
            "Load1": np.r_[load[0], load[:-1]],
            "Temp": temperature,
            "Temp1": np.r_[temperature[0], temperature[:-1]],
        }
    )


def payments(random):
    """Simulate card payments, one in thirty a fraud: most frauds have shifted values in a few columns."""
    n = 8000
    fraud = random.random(n) < 0.033
    hidden = random.random(n) < 0.15
    values = random.standard_t(5, (n, 10))
    shift = np.array([-2.0, 1.6, -2.5, 1.8, 0, 0, 0, -1.5, 0, 0])
    values += (fraud & ~hidden)[:, None] * shift * random.gamma(2, 0.5, (n, 1))
    frame = pd.DataFrame(values, columns=[f"V{j}" for j in range(1, 11)])
    frame["Amount"] = random.lognormal(3.2, 1.4, n).round(2)
    return frame.assign(Class=fraud.astype(int))


def picture(kind, random):
    """Draw a noisy 19 × 19 image of a face (an oval, dark eyes and mouth) or a car (a box, dark wheels)."""
    down, across = np.mgrid[0:19, 0:19] - 9 - random.normal(0, 1, 2)[:, None, None]
    u, v = across / random.normal(1, 0.1), down / random.normal(1, 0.1)
    light = 120 + random.normal(0, 20) + random.normal(0, 4) * across
    if kind == "face":
        shape = 50.0 * (u**2 / 55 + v**2 / 75 < 1)
        shape -= 50 * (np.abs(np.abs(u) - 3.5) < 1.7) * (np.abs(v + 2.5) < 1.3)
        shape -= 40 * (np.abs(u) < 3) * (np.abs(v - 4.5) < 1)
    else:
        shape = 50.0 * (np.abs(u) < 8.5) * (np.abs(v - 1) < 3)
        shape -= 60 * ((np.abs(u) - 5) ** 2 + (v - 4.5) ** 2 < 5)
    return np.clip(light + shape + random.normal(0, 32, (19, 19)), 0, 255).astype(np.uint8)


def pictures(random):
    """Simulate faces and cars as rows of pixels, in a training set and a test set."""
    labels = random.choice(["face", "car"], 1400, p=[0.7, 0.3])
    pixels = np.stack([picture(kind, random).ravel() for kind in labels])
    frame = pd.DataFrame(pixels, columns=[f"px{j}" for j in range(361)])
    frame.insert(0, "split", np.where(np.arange(1400) < 900, "train", "test"))
    frame.insert(0, "label", labels)
    return frame


SIMULATED = {
    "adult": census,
    "abalone": shells,
    "spambase": letters,
    "hitters": players,
    "sa_heart": hearts,
    "ozone_la": smog,
    "opera_electric_load": loads,
    "creditcard_fraud_10k": payments,
    "faces_vs_cars": pictures,
}
