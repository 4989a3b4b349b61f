#!/usr/bin/env python3
"""Searches the values of a machine that the MSG_RING histograms of 2024 are fitted with.

usage: fit_messages.py PROGRAM DATA_DIR OUT.json [--steps N] [--seed N] [--rows REGEX]

Starts at DATA_DIR/machines/messages-2024.json. Free is every value there whose provenance is "fitted":
costs, and the numbers of the distributions in "timing". A step changes one to three of them at random and is kept when the sum over the fitted
rows gets smaller: squared log of the ratio, and eight times what exceeds a row's limit. Rows are fitted that say "use": "fit" in
DATA_DIR/published/msg-ring-defer-taskrun-v3.json and match REGEX; all others are predicted, and the search never sees them. Beyond p99.5 rows
count for nothing. The same seed and steps give the same file.
"""

import argparse
import copy
import json
import math
import random
import re
import subprocess

PACE = {"delay_us": 10, "seconds": 1}  # a third of the published time: the counts are per second


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", default="", help="fit only rows whose id matches")
    return parser.parse_args()


def free_values(node, inherited=False):
    """(owner, key) of every number that is fitted."""
    fitted = node.get("provenance", "fitted" if inherited else "") == "fitted"
    places = []
    for key, value in node.items():
        if isinstance(value, dict):
            places += free_values(value, fitted)
        elif isinstance(value, list):
            for item in value:
                places += free_values(item, fitted)
        elif fitted and isinstance(value, (int, float)) and not isinstance(value, bool):
            places.append((node, key))
    return places


def simulate(args, machine_file, design):
    command = [args.program, "run", "msg-ring", "--machine", machine_file, "--design", design,
               "--format", "json"]
    for name, value in PACE.items():
        command += ["--param", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def simulated(run, row):
    if row["metric"] == "latency":
        histogram, percentile = row["name"].split(".", 1)
        return run["latency"][histogram][percentile]
    return run["phases"][row["phase"]]["operations"] * row["parameters"]["seconds"] / PACE["seconds"]


def errors(args, machine, rows):
    """The log of simulated over published, a row; None where a run fails."""
    with open(args.out, "w", encoding="utf-8") as file:
        json.dump(machine, file, indent=2)
        file.write("\n")
    runs = {d: simulate(args, args.out, d) for d in sorted({row["design"] for row in rows})}
    if any(run is None for run in runs.values()):
        return None
    return [math.log(max(simulated(runs[row["design"]], row), 1e-9) / row["value"]) for row in rows]


def cost(rows, logs):
    total = 0.0
    for row, log in zip(rows, logs):
        if row.get("judged", True):
            limit = math.log1p(row.get("limit_pct", 25) / 100)
            total += log * log + 8 * max(0.0, abs(log) - limit)
    return total


def change(machine, chance):
    changed = copy.deepcopy(machine)
    for owner, key in chance.sample(free_values(changed), chance.choice([1, 1, 2, 3])):
        value = owner[key] * math.exp(chance.gauss(0, chance.choice([0.05, 0.2, 0.5])))
        if key == "spread_permille":
            value = min(value, 1000)
        owner[key] = round(value, 3) if key == "cycles" else int(round(value))
    return changed


def main():
    args = arguments()
    with open(f"{args.data}/machines/messages-2024.json", encoding="utf-8") as file:
        machine = json.load(file)
    with open(f"{args.data}/published/msg-ring-defer-taskrun-v3.json", encoding="utf-8") as file:
        rows = [row for row in json.load(file)["figures"]
                if row["parameters"]["delay_us"] == PACE["delay_us"]]
    fitted = [row for row in rows if row["use"] == "fit" and re.search(args.rows, row["id"])]
    best = cost(fitted, errors(args, machine, fitted))
    chance = random.Random(args.seed)
    for step in range(args.steps):
        tried = change(machine, chance)
        logs = errors(args, tried, fitted)
        if logs is not None and cost(fitted, logs) < best:
            machine, best = tried, cost(fitted, logs)
            print(f"step {step}: {best:.3f}", flush=True)
    for row, log in zip(rows, errors(args, machine, rows)):
        use = "fitted" if row in fitted else "predicted"
        print(f"{row['id']:40} {use:9} {100 * math.expm1(log):+6.1f} %")


main()
