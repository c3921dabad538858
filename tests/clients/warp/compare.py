# SPDX-License-Identifier: Apache-2.0 OR MIT
"""compare.py OUT DEVICE ROUNDS INSTANCES:FRAMES...: compares Warp's renderer with and without
grinterop.

Runs bench.py on the device with each kind of buffer, the kinds in turn. Prints for each kind the
times of all rounds, in microseconds, and whether the last frame has the bytes of unchanged Warp's.
With NEWTON=1 in the environment, does the same for the viewer of Newton, by bench_newton.py.
"""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
if os.environ.get("NEWTON"):
    BENCH, KINDS, NAMES = "bench_newton", ("warp", "grinterop"), ("frame", "get_frame", "buffers")
else:
    BENCH, KINDS = "bench", ("warp", "grinterop", "streamed")
    NAMES = "frame", "write", "draw alone", "get_pixels"


def run(kind, instances, frames, device, out):
    """Returns the four times and the picture, or the reason why there are none."""
    picture = out / f"warp-{kind}-{instances}.ppm"
    picture.unlink(missing_ok=True)
    command = [sys.executable, HERE / f"{BENCH}.py", kind, instances, frames, picture, device]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=200)
    except subprocess.TimeoutExpired:
        return "it takes more than 200 seconds"
    picture.with_suffix(".log").write_text(result.stdout + result.stderr)
    if result.returncode:
        return (result.stderr.strip() or f"status {result.returncode}").splitlines()[-1]
    return result.stdout.split()[-len(NAMES) :], picture.read_bytes()


def compare(instances, frames, device, rounds, out):
    """Returns whether all pictures are the same."""
    results = [[run(kind, instances, frames, device, out) for kind in KINDS] for _ in range(rounds)]
    reference = results[0][0][1]
    print(f"{instances} instances, {frames} frames, {device}:", flush=True)
    good = len({reference[i : i + 3] for i in range(16, len(reference), 3)}) > 100
    if not good and isinstance(reference, bytes):
        print("  the picture of the first kind is nearly empty")
    for kind, column in zip(KINDS, zip(*results)):
        failures = [result for result in column if isinstance(result, str)]
        if failures:
            print(f"  {kind}: cannot run because {failures[0]}")
            good = False
            continue
        same = all(picture == reference for _, picture in column)
        columns = zip(NAMES, zip(*(times for times, _ in column)))
        figures = "; ".join(f"{name} {' '.join(times)}" for name, times in columns)
        print(f"  {kind}: {'same' if same else 'differs'}; {figures}")
        good = good and same
    return good


def main():
    out, device, rounds = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], int(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    sizes = [argument.split(":") for argument in sys.argv[4:]]
    same = [compare(instances, frames, device, rounds, out) for instances, frames in sizes]
    sys.exit(not all(same))


main()
