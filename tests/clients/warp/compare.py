# SPDX-License-Identifier: Apache-2.0 OR MIT
"""compare.py OUT DEVICE ROUNDS INSTANCES:FRAMES...: compares Warp's renderer with and without
grinterop.

Runs bench.py on the device with each kind of buffer, the kinds in turn. Prints for each kind the
times of all rounds, in microseconds, and whether the last frame has the bytes of unchanged Warp's.
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
KINDS = "warp", "grinterop", "streamed"


def run(kind, instances, frames, device, out):
    """Returns the three times and the picture."""
    picture = out / f"warp-{kind}-{instances}.ppm"
    picture.unlink(missing_ok=True)
    command = [sys.executable, HERE / "bench.py", kind, instances, frames, picture, device]
    result = subprocess.run(command, capture_output=True, text=True, timeout=500)
    picture.with_suffix(".log").write_text(result.stdout + result.stderr)
    if result.returncode:
        sys.exit(f"{kind} fails: {(result.stderr.strip() or 'no message').splitlines()[-1]}")
    return [int(number) for number in result.stdout.split()[-3:]], picture.read_bytes()


def compare(instances, frames, device, rounds, out):
    """Returns whether all pictures are the same."""
    results = [[run(kind, instances, frames, device, out) for kind in KINDS] for _ in range(rounds)]
    reference = results[0][0][1]
    print(f"{instances} instances, {frames} frames, {device}:", flush=True)
    for i, kind in enumerate(KINDS):
        same = all(line[i][1] == reference for line in results)
        columns = zip(*(line[i][0] for line in results))
        frame, write, read = (" ".join(str(number) for number in column) for column in columns)
        print(f"  {kind}: {'same' if same else 'differs'}; frame {frame}; write {write}; read {read}")
    colours = {reference[i : i + 3] for i in range(16, len(reference), 3)}
    if len(colours) < 100:
        sys.exit("the picture is nearly empty")
    return all(picture == reference for line in results for _, picture in line)


def main():
    out, device, rounds = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], int(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    sizes = [argument.split(":") for argument in sys.argv[4:]]
    same = [compare(instances, frames, device, rounds, out) for instances, frames in sizes]
    sys.exit(not all(same))


main()
