"""The table at the end of a drill, and its verdict."""

import collections
from collections.abc import Iterable

from ledger import Finding
from load import Exchange, Record


def table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    """The first column to the left, the others, numbers mostly, to the right."""
    lines = [head, *(tuple(str(cell) for cell in row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        cells = [cell.ljust(width) if column == 0 else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(line, widths))]
        print("  " + "  ".join(cells).rstrip())


def percentile(values: list[float], share: float) -> float:
    """Of a list in order; 0 for an empty one."""
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0.0


def requests(record: Record) -> None:
    """Prints what clients saw, with a line for each kind of request."""
    kinds: dict[str, list[Exchange]] = collections.defaultdict(list)
    for exchange in record.exchanges:
        kinds[exchange.kind].append(exchange)
    rows = []
    for kind, exchanges in sorted(kinds.items()):
        times = sorted(exchange.ended - exchange.began for exchange in exchanges)
        failed = sum(exchange.failure is not None for exchange in exchanges)
        rows.append((kind, len(exchanges), failed, *(f"{1000 * time:.0f}" for time in
                                                     (percentile(times, 0.5), percentile(times, 0.99), times[-1]))))
    table(("request", "sent", "failed", "p50 ms", "p99 ms", "longest ms"), rows)


def writes(findings: list[Finding]) -> bool:
    """Prints what the database has of the writes. Returns whether that is what was acknowledged."""
    table(("write", "sent", "acknowledged", "stored", "missing", "twice"),
          ((finding.kind, finding.sent, finding.acknowledged, finding.stored, len(finding.missing), len(finding.twice))
           for finding in findings))
    for finding in findings:
        for what, ids in (("missing", finding.missing), ("stored more than once", finding.twice)):
            if ids:
                print(f"  {what}: {finding.kind} {', '.join(ids[:3])}{' …' if len(ids) > 3 else ''}")
    return all(finding.holds for finding in findings)


def failures(exchanges: list[Exchange]) -> None:
    """Each reason once, with how often it occurred."""
    reasons = collections.Counter((exchange.kind, exchange.failure) for exchange in exchanges)
    for (kind, reason), count in reasons.most_common(10):
        print(f"  {count} × {kind}: {reason}")


def verdict(broken: list[str]) -> int:
    """The exit status: 0 when nothing is broken."""
    for reason in broken:
        print(f"BROKEN: {reason}")
    print("The guarantee did not hold." if broken else "The guarantee held.")
    return 1 if broken else 0
