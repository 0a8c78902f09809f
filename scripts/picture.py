#!/usr/bin/env python3
"""Draws the first lines that a command prints, with its colours, as an SVG.

    scripts/picture.py OUT.svg LINES COMMAND [ARGUMENT...]

The command gets COLUMNS=96 and the dark theme, and is drawn as the line above its answer.
"""
import os
import re
import subprocess
import sys
from html import escape

CHAR, LINE, LEFT, TOP, COLUMNS = 8.4, 19, 20, 52, 96
BACK, TEXT, DIM = "#0d1117", "#e6edf3", "#8b949e"
CLASSES = {"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "35": "m", "36": "p"}
COLOURS = {"r": "#ff7b72", "g": "#7ee787", "y": "#e3b341", "m": "#d2a8ff", "p": "#56d4dd"}


def cube(n):
    """The colour `n` of the 256 of a terminal, above the first sixteen."""
    if n >= 232:
        return "#" + f"{8 + 10 * (n - 232):02x}" * 3
    level = [0, 95, 135, 175, 215, 255]
    n -= 16
    return "#" + "".join(f"{level[i]:02x}" for i in (n // 36, n // 6 % 6, n % 6))


def spans(line):
    """The pieces of a line with the attributes that draw them."""
    line = re.sub(r"\x1b\]8;;.*?\x1b\\", "", line)
    look = ""
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", piece)
        if code is None:
            if piece:
                yield look, piece
        elif code[1].startswith("38;5;"):
            look = f' style="fill:{cube(int(code[1][5:]))}"'
        else:
            names = [CLASSES[c] for c in code[1].split(";") if c in CLASSES]
            look = f' class="{" ".join(names)}"' if names else ""


def drawn(lines):
    """The lines as elements of SVG, each piece at its column."""
    for row, line in enumerate(lines):
        column = 0
        y = TOP + row * LINE
        for look, text in spans(line):
            if text.strip():
                x = LEFT + CHAR * (column + len(text) - len(text.lstrip()))
                shown = text.strip()
                width = f'{CHAR * len(shown):.1f}'
                yield f'<text x="{x:.1f}" y="{y}" textLength="{width}"{look}>{escape(shown)}</text>'
            column += len(text)


def main():
    out, count, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    env = {**os.environ, "COLUMNS": str(COLUMNS), "INDEXD_THEME": "dark", "CLICOLOR_FORCE": "1", "TERM": "dumb"}
    answer = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    asked = " ".join(f"'{a}'" if " " in a else a for a in command)
    lines = [f"\x1b[32m$\x1b[0m \x1b[1m{asked}\x1b[0m"] + answer.splitlines()[:count]
    width, height = LEFT * 2 + CHAR * COLUMNS, TOP + LINE * len(lines)
    colours = "".join(f".{name}{{fill:{colour}}}" for name, colour in COLOURS.items())
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" role="img" aria-label="{escape(asked, quote=True)} on a terminal">',
        "<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
        f"white-space:pre;fill:{TEXT}}}.b{{font-weight:700}}.d{{fill:{DIM}}}{colours}</style>",
        f'<rect width="{width:.0f}" height="{height}" rx="10" fill="{BACK}"/>',
        *(f'<circle cx="{22 + 20 * i}" cy="20" r="6" fill="{c}"/>' for i, c in enumerate(["#ff5f57", "#febc2e", "#28c840"])),
        *drawn(lines),
        "</svg>",
    ]
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(svg) + "\n")


main()
