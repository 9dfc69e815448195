"""Draws results/latest.json as results/latest.svg. Usage: chart.py [results/latest.json]"""

import json
import math
import pathlib
import sys
from html import escape

WIDTH, LEFT, ROW = 960, 250, 22
INK, FAINT, BAR, LINE = "#24292f", "#8c959f", "#3d7ea6", "#c2410c"
CURVES = (BAR, LINE, "#4d7c0f")
DIAGRAM_WIDTH, DIAGRAM_HEIGHT = 300, 190


def text(
    x: float, y: float, content: str, anchor: str = "start", size: int = 12, color: str = INK, weight: str = "normal"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{color}" '
        f'font-weight="{weight}">'
        f"{escape(content)}</text>"
    )


def short(number: float) -> str:
    for limit, unit in ((1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.3g}{unit}"
    return f"{number:.3g}"


def bars(workloads: list[dict], top: float) -> list[str]:
    """Ratios to the floor, and the target."""
    scale = (WIDTH - LEFT - 270) / max(1.2, *(each["ratio"] for each in workloads))
    parts = []
    bottom = top + ROW * len(workloads)
    for value, color, label in ((0.85, LINE, "0.85"), (1.0, FAINT, "the floor")):
        x = LEFT + value * scale
        anchor = "end" if value < 1 else "start"
        parts.append(
            f'<line x1="{x:.1f}" y1="{top - 4:.1f}" x2="{x:.1f}" y2="{bottom:.1f}" stroke="{color}" '
            f'stroke-dasharray="4 3"/>'
        )
        parts.append(text(x, top - 9, label, anchor, 11, color))
    for number, each in enumerate(workloads):
        y = top + ROW * number
        parts.append(text(LEFT - 8, y + 14, each["title"], "end"))
        parts.append(
            f'<rect x="{LEFT}" y="{y + 3:.1f}" width="{each["ratio"] * scale:.1f}" height="{ROW - 7}" rx="2" '
            f'fill="{BAR}"/>'
        )
        if peer := each.get("peer"):
            x = LEFT + peer["rate"] / each["floor"]["rate"] * scale
            parts.append(
                f'<line x1="{x:.1f}" y1="{y + 2:.1f}" x2="{x:.1f}" y2="{y + ROW - 3:.1f}" stroke="{LINE}" '
                f'stroke-width="3"/>'
            )
            parts.append(text(x + 5, y + 14, "glewlwyd", size=10, color="#ffffff"))
        rate = f"{each['ratio']:.2f}   {each['merganser']['rate']:,.0f}/s"
        if least := each.get("ideal_ratio"):
            rate += f"   {least:.2f} of the ideal"
        parts.append(text(LEFT + max(each["ratio"], 1.02) * scale + 6, y + 14, rate, size=11))
    return parts


def diagram(title: str, curves: list[dict], left: float, top: float) -> list[str]:
    """Curves of one unit, on logarithmic axes, so that proportional growth is a line. An x of 0 is drawn at 1."""
    points = [(x, y) for curve in curves for x, y in curve["points"] if y]
    if not points:
        return []
    low_x, high_x = (bound(math.log10(max(x, 1)) for x, _ in points) for bound in (min, max))
    low_y, high_y = (
        math.floor(math.log10(min(y for _, y in points))),
        math.ceil(math.log10(max(y for _, y in points)) + 1e-9),
    )
    inner_left, inner_top, width, height = left + 46, top + 26, DIAGRAM_WIDTH - 66, DIAGRAM_HEIGHT - 70

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(max(x, 1)) - low_x) / ((high_x - low_x) or 1)
        return inner_left + across * width, inner_top + height - (math.log10(y) - low_y) / (high_y - low_y) * height

    parts = [text(left, top + 10, title, weight="bold")]
    for power in range(low_y, high_y + 1):
        y = place(10**low_x, 10**power)[1]
        parts.append(f'<line x1="{inner_left}" y1="{y:.1f}" x2="{inner_left + width}" y2="{y:.1f}" stroke="#d0d7de"/>')
        parts.append(text(inner_left - 5, y + 4, short(10**power), "end", 10, FAINT))
    for x in sorted({x for x, _ in points}):
        parts.append(text(place(x, 10**low_y)[0], inner_top + height + 14, short(x), "middle", 10, FAINT))
    axes = f"{curves[0]['x']} → {curves[0]['y']}"
    # In two lines if it is too long for the diagram.
    for number, line in enumerate([axes] if len(axes) < 50 else axes.split(" → ")):
        parts.append(text(inner_left, inner_top + height + 28 + 12 * number, line, size=10, color=FAINT))
    named = left + 46
    for curve, color in zip(curves, CURVES, strict=False):
        placed = [place(x, y) for x, y in curve["points"] if y]
        parts.append(
            f'<polyline fill="none" stroke="{color}" stroke-width="2" points="'
            + " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
            + '"/>'
        )
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}"/>' for x, y in placed]
        if len(curves) > 1:
            parts.append(text(named, top + 23, curve["title"], size=10, color=color))
            # About the width of the text.
            named += 5 * len(curve["title"]) + 12
    return parts


def draw(results: dict) -> str:
    workloads, curves = results["workloads"], results.get("growth", [])
    machine = results["machine"]
    parts = [text(20, 30, "Merganser beside a C program that runs the same SQL", size=17, weight="bold")]
    parts.append(
        text(
            20,
            50,
            f"Ratio of requests/s, median of {results['rounds']} rounds, through nginx; "
            f"{machine['cpus']} CPUs shared with nginx, "
            f"MariaDB and the load. {results['date']}",
            size=11,
            color=FAINT,
        )
    )
    top = 84
    parts += bars(workloads, top)
    top += ROW * len(workloads) + 30
    groups: dict[tuple[str, str], list[dict]] = {}
    for curve in curves:
        groups.setdefault((curve["x"], curve["y"]), []).append(curve)
    for number, ((x, unit), group) in enumerate(groups.items()):
        measured = "time" if "ms" in unit else "throughput"
        title = f"{group[0]['title'] if len(group) == 1 else measured} by {x.partition(',')[0]}"
        parts += diagram(title, group, 20 + number % 3 * (DIAGRAM_WIDTH + 10), top + number // 3 * DIAGRAM_HEIGHT)
    height = top + math.ceil(len(groups) / 3) * DIAGRAM_HEIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="system-ui, sans-serif" role="img">\n'
        f"<title>Merganser beside a C program that runs the same SQL</title>\n"
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def write(path: pathlib.Path) -> None:
    path.with_suffix(".svg").write_text(draw(json.loads(path.read_text())))


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "results/latest.json"))
