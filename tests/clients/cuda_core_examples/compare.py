# SPDX-License-Identifier: Apache-2.0 OR MIT
"""compare.py OUT [FRAMES]: runs the OpenGL examples of cuda.core that `run` put into OUT.

Each runs with cuda.core's GraphicsResource and with grinterop's, without a display. Prints a
line per example: whether the last frames have the same bytes, and the mean time per frame. The
last line counts the results.
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
IMPORT = re.compile(r"(from cuda\.core import \([^)]*?)    GraphicsResource,\n")


class Failed(Exception):
    pass


def draw(program, frames, picture):
    """Returns the microseconds per frame that headless.py printed."""
    picture.unlink(missing_ok=True)
    command = [sys.executable, HERE / "headless.py", program, str(frames), picture]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        raise Failed("it takes more than 300 seconds") from None
    log = picture.with_suffix(".log")
    log.write_text(result.stdout + result.stderr)
    if result.returncode or not picture.exists():
        last = (result.stderr.strip() or f"status {result.returncode}").splitlines()[-1]
        raise Failed(f"{last} ({log})")
    return int(result.stdout.split()[-1])


def compare(program, frames, out):
    """Returns the result and its details."""
    text, changed = IMPORT.subn(r"from grinterop import GraphicsResource\n\1", program.read_text())
    if changed != 1:
        return "cannot run", "because it does not import GraphicsResource from cuda.core"
    ported = out / "ported" / program.name
    ported.parent.mkdir(exist_ok=True)
    ported.write_text(text)
    first, second = (out / f"{program.stem}.{kind}.ppm" for kind in ("cuda_core", "grinterop"))
    try:
        before = draw(program, frames, first)
    except Failed as error:
        return "cannot run", f"because the original fails: {error}"
    try:
        after = draw(ported, frames, second)
    except Failed as error:
        return "differs", f"grinterop fails: {error}"
    if len(set(first.read_bytes()[20:])) < 3:
        return "cannot run", "because the original draws one colour"
    same = first.read_bytes() == second.read_bytes()
    times = f"{before} us per frame with cuda.core, {after} with grinterop"
    return "same" if same else "differs", times


def main():
    out, frames = pathlib.Path(sys.argv[1]).resolve(), int((sys.argv[2:] or ["60"])[0])
    counts = {"same": 0, "differs": 0, "cannot run": 0}
    for program in sorted((out / "examples").glob("*.py")):
        result, details = compare(program, frames, out)
        counts[result] += 1
        print(f"{program.stem}: {result}: {details}", flush=True)
    print(", ".join(f"{number} {result}" for result, number in counts.items()))
    sys.exit(counts["differs"] > 0 or counts["same"] == 0)


main()
