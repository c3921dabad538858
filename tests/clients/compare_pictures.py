# SPDX-License-Identifier: Apache-2.0 OR MIT
"""compare_pictures.py FIRST SECOND: prints the difference of two PPM files in one line."""

import sys

# The largest difference, from 0 to 255, that counts as equal: rasterizers and roundings differ
# slightly.
CLOSE = 8


def read(name):
    with open(name, "rb") as file:
        data = file.read()
    kind, width, height, most = data.split(maxsplit=4)[:4]
    if (kind, most) != (b"P6", b"255"):
        sys.exit(f"{name} is not an 8-bit PPM file")
    return (int(width), int(height)), data[-3 * int(width) * int(height) :]


def main():
    size, first = read(sys.argv[1])
    other_size, second = read(sys.argv[2])
    if size != other_size:
        sys.exit(f"{sys.argv[1]} has {size} pixels and {sys.argv[2]} {other_size}")
    off = [abs(a - b) for a, b in zip(first, second)]
    far = sum(max(off[i : i + 3]) > CLOSE for i in range(0, len(off), 3))
    mean = sum(off) / len(off)
    share = 100 * far / (len(off) // 3)
    print(f"    mean difference {mean:.3f} of 255, more than {CLOSE} in {share:.3f} %")


main()
