#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Exchanges bytes between each framework and OpenGL and Vulkan objects, in every possible way.

    python3 matrix.py                      a table of the installed frameworks
    python3 matrix.py --out DIR            DIR/frameworks.md and DIR/frameworks.json as well
    python3 matrix.py --only NumPy,CuPy    only these frameworks
    python3 matrix.py --pipelines          also the pipelines: from JPEG and H.264 to a picture

Each framework runs in its own process with a time limit. The exit status is 1 if wrong bytes
arrived or a framework crashed.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

# This folder comes last in sys.path: in the source tree its package grinterop lacks the extension.
sys.path[:] = sys.path[1:] + [str(Path(__file__).resolve().parent)]

NAMES = (
    "PyTorch",
    "CuPy",
    "CUDA Python",
    "NumPy",
    "JAX",
    "Numba",
    "PyCUDA",
    "Warp",
    "CV-CUDA",
    "nvImageCodec",
    "PyNvVideoCodec",
)
PIPELINES = ("JPEG", "H.264")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder for frameworks.md and frameworks.json")
    parser.add_argument("--only", default="", help="names, with commas between")
    parser.add_argument("--pipelines", action="store_true", help="run the pipelines too")
    parser.add_argument("--limit", type=float, default=60, help="seconds for each; 60")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--pipe", type=int, default=1, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    chosen.names = [name.strip() for name in chosen.only.split(",") if name.strip()] or NAMES
    unknown = set(chosen.names) - set(NAMES)
    if unknown:
        parser.error(f"no framework is called {', '.join(sorted(unknown))}; there are: {NAMES}")
    return chosen


# ---- Child processes -----------------------------------------------------------------------------


def start(name, pipe, log, out):
    """Starts the process, which writes lines of JSON to the pipe and other output to the log."""
    command = [sys.executable, __file__, "--child", name, "--pipe", str(pipe)]
    if out:
        command += ["--out", str(out)]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(pipe,)
    )


def wait(child, limit):
    """Why the process failed, or None."""
    try:
        status = child.wait(limit)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return f"not done after {limit:g} s"
    if status < 0:
        return f"killed by signal {-status}"
    return f"exit status {status}" if status else None


def run_child(name, limit, folder, out):
    """Runs a child. Returns its results, why it failed or None, and the last line of its log. The
    child writes its results to a file, since it would block on a full pipe.
    """
    said = folder / "said.jsonl"
    log = folder / f"{name.replace(' ', '-')}.log"
    with open(said, "wb") as pipe, open(log, "wb") as text:
        trouble = wait(start(name, pipe.fileno(), text, out), limit)
    lines = []
    for line in said.read_text(errors="replace").splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            continue
    tail = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines, trouble, tail[-1][:200] if tail else ""


def row_of(name, lines, trouble, tail):
    """Makes one row of the matrix from the results of the child."""
    row = {"name": name, "cells": {}, "trouble": []}
    for line in lines:
        if "cell" in line:
            row["cells"][" ".join(line["cell"])] = line["ways"]
        elif "trouble" in line:
            row["trouble"].append(line["trouble"])
        else:
            row.update(line)
    if trouble:
        row["trouble"].append(f"{trouble}: {tail}" if tail else trouble)
    return row


def verdict(row):
    """The text of the progress line."""
    if "absent" in row:
        return f"not run: {row['absent']}"
    ways = [way for cell in row["cells"].values() for way in cell]
    works = sum(way["result"] == "works" for way in ways)
    failed = [way["reason"] for way in ways if way["result"] == "failed"]
    text = f"{row.get('version', '')}: {len(row['cells'])} cells, {works} ways work"
    for reason in failed + row["trouble"]:
        text += f"\n      {reason}"
    return text


def run_all(chosen):
    """Runs every row, with a progress line for each."""
    import tempfile

    rows = []
    names = list(chosen.names) + (list(PIPELINES) if chosen.pipelines else [])
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(names, 1):
            begun = time.monotonic()
            row = row_of(name, *run_child(name, chosen.limit, Path(folder), chosen.out))
            rows.append(row)
            spent = time.monotonic() - begun
            print(f"[{number}/{len(names)}] {name} ({spent:.1f} s) {verdict(row)}", flush=True)
    return rows


def is_bad(row):
    """Whether bytes were wrong or the framework crashed. A way that a framework lacks is no
    failure.
    """
    failed = any(way["result"] == "failed" for cell in row["cells"].values() for way in cell)
    return bool(row["trouble"]) or failed


def main():
    chosen = arguments()
    if chosen.child:
        from frameworks import child

        with os.fdopen(chosen.pipe, "w") as pipe:
            child.run(chosen.child, pipe, chosen.out)
        return 0
    from frameworks import document

    if chosen.out:
        chosen.out.mkdir(parents=True, exist_ok=True)
    rows = run_all(chosen)
    text = document.write(rows)
    print(text)
    if chosen.out:
        (chosen.out / "frameworks.md").write_text(text)
        (chosen.out / "frameworks.json").write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if any(is_bad(row) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
