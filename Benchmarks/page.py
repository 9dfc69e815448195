"""Writes what results/latest.json has into docs/performance.md, between the page's marks. Usage: page.py [results/latest.json]"""

import json
import pathlib
import re
import statistics
import sys
from collections.abc import Iterable

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parent / "docs/performance.md"


def table(head: str, rows: Iterable[Iterable[object]], texts: int = 1) -> str:
    """A table of Markdown, whose first columns are text."""
    names = head.split(" | ")
    lines = [names, [*["---"] * texts, *["---:"] * (len(names) - texts)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def machine(results: dict) -> str:
    found = results["machine"]
    mariadb = re.search(r"Ver (\S+)", found["mariadb"])
    text = (
        f"{results['date']}, {found['cpus']} CPUs ({found['model']}), Linux {found['kernel']}, "
        f"{found['nginx'].removeprefix('nginx version: ')}, MariaDB {mariadb[1] if mariadb else found['mariadb']}; "
        f"{results['threads']} worker threads; medians of {results['rounds']} rounds of {results['seconds']} s."
    )
    others: dict[str, dict[str, None]] = {}
    whole = {
        "statements": "the statements one by one",
        "instructions": "the instructions",
        "startup": "start and memory",
        "latency": "latency and handshakes",
    }
    for part in ("workloads", "growth", "reads", *whole):
        measured = results.get(part) or ()
        for each in [measured] if isinstance(measured, dict) else measured:
            if model := each.get("processor"):
                title = whole.get(part) or each.get("title", each.get("read"))
                others.setdefault(model, {})[title] = None
    for model, titles in others.items():
        text += (
            f"\n\nThese were measured later, on another processor ({model}). Only their ratios compare with the rest: "
            f"{'; '.join(titles)}."
        )
    return text


def workloads(results: dict) -> str:
    def row(each: dict) -> list[str]:
        ours, floor = each["merganser"], each["floor"]
        return [
            each["title"],
            number(ours["rate"], 0),
            number(each["ratio"]),
            number(each.get("ideal_ratio")),
            number(each.get("least_ratio")),
            number(each.get("rule_ratio")),
            number(ours["p50"]),
            number(ours["p99"]),
            f"{ours['worker_cpu']:.3f} ({floor['worker_cpu']:.3f})",
            f"{ours['database_cpu']:.3f} ({floor['database_cpu']:.3f})",
            number(ours["nginx_cpu"], 3),
        ]

    return table(
        "workload | requests/s | of the floor | of its ideal | the least, of the ideal | a rule, of the ideal | p50 ms | p99 ms | "
        "worker CPU ms (floor's) | database CPU ms (floor's) | nginx CPU ms",
        map(row, results["workloads"]),
    )


def statements(results: dict) -> str:
    if not (found := results.get("statements")):
        return "Not measured yet."

    def rows() -> Iterable[list[str]]:
        for each in found:
            title = each["title"]
            for statement in each["statements"]:
                yield [title, f"`{statement['sql']}`", number(statement["us"], 0), number(statement["again_us"], 0)]
                title = ""

    trip = statistics.median(each["round_trip"] for each in found)
    return f"`DO 0`, and with it the round trip, takes {trip:.0f} µs.\n\n" + table(
        "workload | statement | µs | again, µs", rows(), texts=2
    )


def instructions(results: dict) -> str:
    if not (found := results.get("instructions")):
        return "Not measured yet."
    return table(
        "workload | worker | floor | times",
        (
            [each["title"], number(each["merganser"], 0), number(each["floor"], 0), number(each["merganser"] / each["floor"], 1)]
            for each in found
        ),
    )


def parts(results: dict) -> str:
    found = [each for each in results.get("instructions") or () if "parts" in each]
    if not found:
        return "Not measured yet."
    names = list(found[0]["parts"])
    return table(
        " | ".join(["workload", *names]),
        ([each["title"], *(number(each["parts"][name] / 1000, 1) for name in names)] for each in found),
    )


def peers(results: dict) -> str:
    names = {"merganser": "Merganser", "peer": "glewlwyd", "peer-django": "Django OAuth Toolkit"}

    def rows() -> Iterable[list[str]]:
        for each in results["workloads"]:
            sides = [name for name in names if name in each]
            for name in sides if len(sides) > 1 else []:
                side = each[name]
                yield [
                    each["title"] if name == "merganser" else "",
                    names[name],
                    number(side["rate"], 0),
                    number(side["p50"]),
                    number(side["p99"]),
                    number(side["worker_cpu"], 3),
                    number(side["database_cpu"], 3),
                    number(side["memory"] / 1e6, 0),
                ]

    head = "workload | server | requests/s | p50 ms | p99 ms | server CPU ms | database CPU ms | memory MB"
    return table(head, rows())


def latency(results: dict) -> str:
    if not (found := results.get("latency")):
        return "Not measured yet."

    def rows() -> Iterable[list[str]]:
        for each in found["workloads"]:
            title = each["title"]
            for point in each["rates"]:
                ours, floor = point["merganser"], point["floor"]
                yield [
                    title,
                    f"{point['rate']:,.0f} ({point['share']:.0%})",
                    *(f"{ours[key]:.2f} ({floor[key]:.2f})" for key in ("p50", "p99", "p999")),
                    f"{ours['requests']:,}",
                    f"{ours['failed']:,} ({floor['failed']:,})",
                ]
                title = ""
            saturated = each["saturated"]
            yield ["", f"saturated: {saturated['merganser']:,.0f} ({saturated['floor']:,.0f})", "", "", "", "", ""]

    return (
        f"{found['connections']} connections; {found['rounds']} rounds of {found['seconds']} s at each rate, taken together. In "
        "brackets the floor.\n\n"
        + table("workload | requests/s (of saturation) | p50 ms | p99 ms | p99.9 ms | requests | refused", rows())
    )


def handshakes(results: dict) -> str:
    if not (found := results.get("latency")):
        return "Not measured yet."
    return table(
        "handshake | handshakes/s | nginx CPU ms",
        ([each["kind"], number(each["rate"], 0), number(each["nginx_cpu"], 3)] for each in found["handshakes"]),
    )


def startup(results: dict) -> str:
    if not (found := results.get("startup")):
        return "Not measured yet."
    megabytes = lambda bytes: number(bytes / 1e6, 1)
    memory = [("idle", found["idle"]), *(("then " + each["title"], each) for each in found["busy"])]
    return (
        f"Ready {found['ready']:.0f} ms after exec (median; at most {found['slowest']:.0f} ms). Resident memory of an instance "
        f"with {found['threads']} threads:\n\n"
        + table(
            "after | resident MB | of it its own MB",
            ([name, megabytes(each["resident"]), megabytes(each["own"])] for name, each in memory),
        )
    )


def growth(results: dict) -> str:
    """The lists, and of their filters those of which a page costs more than three times the list's first page."""
    if not (found := results.get("reads")):
        return "Not measured yet."
    sizes = sorted({each["events"] for each in found})
    costs = {(each["read"], each["events"]): each for each in found}
    places = ("first", "hundredth", "last")

    def rows() -> Iterable[list[str]]:
        for read, events in costs:
            if events != sizes[-1]:
                continue
            cost, whole = costs[read, events], costs[read.split("?")[0], events]
            # Ids are others in each run.
            name = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", read)
            if not cost["first"]:
                yield [f"`{name}`", "", "refused", "", "", ""]
                continue
            worst = max((cost[place] or 0) / (whole["first"] or cost["first"]) for place in places)
            if cost is whole or worst > 3:
                small = costs.get((read, sizes[0]), {})
                yield [
                    f"`{name}`", number(small.get("first"), 1), *(number(cost[place], 1) for place in places), number(worst, 1)
                ]

    head = (
        f"list and filter | first page at {sizes[0]:,} events, ms | first page at {sizes[-1]:,} | hundredth | last | "
        "of the list's first page"
    )
    return table(head, rows())


PARTS = {
    "growth": growth,
    "machine": machine,
    "workloads": workloads,
    "statements": statements,
    "instructions": instructions,
    "parts": parts,
    "latency": latency,
    "handshakes": handshakes,
    "startup": startup,
    "peers": peers,
}


def write(results: pathlib.Path) -> None:
    found = json.loads(results.read_text())
    text = PAGE.read_text()
    for name, part in PARTS.items():
        text, count = re.subn(
            rf"(<!-- bench: {name} -->\n).*?(<!-- end -->)",
            lambda match: f"{match[1]}\n{part(found)}\n\n{match[2]}",
            text,
            flags=re.DOTALL,
        )
        if count != 1:
            raise SystemExit(f"error: {PAGE} has {count} places for {name}")
    PAGE.write_text(text)


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "results/latest.json")
