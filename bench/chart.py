#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
Draws a file that a benchmark wrote with --json: a panel for each size, a bar for each row.

    bench/chart.py RUN.json CHART.svg [TITLE]

A bar is the first value of a row, on a logarithmic axis, with its quartiles. In brackets: the row
beside raw calls. The dashed line is the row "bound". Needs matplotlib.
"""
import json
import sys

# The values in brackets, of which a row has at most one.
BESIDE = "times_in_order", "ratio"
# The members of a row that are no values.
FACTS = "row", "size", "measured", "wrong", "what", "part", "note"


def median(value):
    return value["median"] if isinstance(value, dict) else value


def first_value(row):
    return next((value for name, value in row.items() if name not in FACTS), None)


def draw_panel(axes, rows, names, colours):
    for row in rows:
        at, value = names.index(row["row"]), first_value(row)
        if not row["measured"] or value is None or median(value) is None:
            axes.text(0.01, at, row["note"][:60], transform=axes.get_yaxis_transform(), va="center",
                      fontsize=6, color="grey")
            continue
        spread = value if isinstance(value, dict) else {"q1": value, "q3": value}
        error = [[median(value) - spread["q1"]], [spread["q3"] - median(value)]]
        axes.barh(at, median(value), xerr=error, color=colours[row["part"]], ecolor="black")
        beside = [median(row[name]) for name in BESIDE if row.get(name) is not None]
        beside = "".join(f" ({times:.3g})" for times in beside if times is not None)
        axes.text(median(value), at, f" {median(value):.4g}{beside}", va="center", fontsize=7)
        if row["row"] == "bound":
            axes.axvline(median(value), color="black", linestyle="--", linewidth=1)
    axes.set_xscale("log")
    axes.set_title(rows[0]["size"], fontsize=9)
    axes.margins(x=0.2, y=0.01)


def draw(run, path, title):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = run["rows"]
    names, sizes, parts = (list(dict.fromkeys(row[key] for row in rows))
                           for key in ("row", "size", "part"))
    colours = {part: f"C{index % 10}" for index, part in enumerate(parts)}
    figure, panels = pyplot.subplots(1, len(sizes), sharey=True, squeeze=False,
                                     figsize=(3 + 3.5 * len(sizes), 1.5 + 0.22 * len(names)))
    for axes, size in zip(panels[0], sizes):
        draw_panel(axes, [row for row in rows if row["size"] == size], names, colours)
    panels[0][0].set_yticks(range(len(names)), names, fontsize=8)
    panels[0][0].invert_yaxis()
    figure.legend([pyplot.Rectangle((0, 0), 1, 1, color=colours[part]) for part in parts], parts,
                  loc="outside lower center", ncols=2, fontsize=7)
    figure.suptitle(f"{title}{run['device']}, {run['date'][:10]}\n{run['driver']}; "
                    "µs, first value of each row", fontsize=10)
    figure.set_layout_engine("constrained")
    figure.savefig(path)


def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(arguments[0], encoding="utf-8") as file:
        draw(json.load(file), arguments[1], "".join(f"{title}\n" for title in arguments[2:]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
