# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes the matrix as a document."""

import datetime
import textwrap

PLACES = ("OpenGL buffer", "OpenGL image", "Vulkan buffer", "Vulkan image")

BEGIN = """\
# Frameworks

The copies that each framework needs to exchange data with OpenGL and Vulkan: out of graphics, then
into graphics. `python/matrix.py` ran every cell, compared every byte, and wrote this page.

- **0**: the framework's array is the mapping (same pointer), or its object is the CUDA array of the
  image, and grinterop counted no copied bytes.
- **1**: `publish()` or `fetch()` moved the bytes once between framework memory and the graphics
  object, and converted them if necessary. An image has no address that a framework could use, so it
  needs at least this copy.
- **no**: not possible, for the reason of that number.
"""


def best(ways):
    """The working way that needs the fewest copies, or None."""
    works = [way for way in ways if way["result"] == "works"]
    return min(works, key=lambda way: way["copies"]) if works else None


class Notes:
    """Numbers the reasons; equal reasons get the same number."""

    def __init__(self):
        self.texts = []

    def number(self, text):
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text) + 1

    def lines(self):
        for number, text in enumerate(self.texts, 1):
            yield from wrapped(f"{number}. {text}", " " * (len(str(number)) + 2))


def wrapped(text, indent=""):
    return textwrap.wrap(
        text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def cell(ways, notes):
    if not ways:
        return "not run"
    found = best(ways)
    if found:
        return str(found["copies"])
    reasons = "; ".join(f"{way['way']}: {way['reason']}" for way in ways)
    return f"no ({notes.number(reasons)})"


def table(heads, rows):
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    for row in [heads, ["-" * width for width in widths], *rows]:
        yield "| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |"


def matrix_table(rows, notes):
    lines = []
    for row in rows:
        cells = [
            ", ".join(cell(row["cells"].get(f"{place} {way}"), notes) for way in ("out", "in"))
            for place in PLACES
        ]
        lines.append([f"{row['name']} {row['version']}", *cells])
    return table(["", *PLACES], lines)


def about(rows):
    """The machine and the date."""
    machine = next((row["machine"] for row in rows if "machine" in row), {})
    vulkan = next((row["vulkan"] for row in rows if "vulkan" in row), "not run")
    gpu = f"grinterop's software driver, {machine.get('opengl', '')}"
    if not machine.get("software"):
        gpu = machine.get("egl", "")
    yield from wrapped(
        f"{datetime.date.today().isoformat()}, {gpu}. Vulkan: {vulkan}. "
        f"grinterop {machine.get('grinterop', '')}, Python {machine.get('python', '')}."
    )


def pipeline_lines(rows):
    if not rows:
        return
    yield "## Pipelines"
    yield ""
    for row in rows:
        for step in row.get("steps", []):
            yield from wrapped(f"- {row['name']}: {step}", "  ")
        reasons = [f"not run: {row['absent']}"] if "absent" in row else []
        for reason in reasons + row["trouble"]:
            yield from wrapped(f"- {row['name']}: {reason}", "  ")
    yield ""


def troubles(rows):
    for row in rows:
        for text in row["trouble"]:
            yield from wrapped(f"- {row['name']}: {' '.join(text.split())}", "  ")


def write(rows):
    """The whole document."""
    notes = Notes()
    matrix = [row for row in rows if "steps" not in row and row["name"] not in ("JPEG", "H.264")]
    there = [row for row in matrix if row["cells"]]
    lines = [*about(rows), "", *matrix_table(there, notes), ""]
    if notes.texts:
        lines += ["Reasons:", "", *notes.lines(), ""]
    lines += pipeline_lines([row for row in rows if row not in matrix])
    absent = [row for row in matrix if not row["cells"]]
    for row in absent:
        lines += wrapped(f"- {row['name']} was not run: {row.get('absent', 'it ended')}", "  ")
    ended = list(troubles(there))
    lines += ["", "What went wrong:", "", *ended] if ended else []
    return BEGIN + "\n" + "\n".join(lines).rstrip() + "\n"
