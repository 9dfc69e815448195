"""Which functions of the program requests and a start run, for the linker, which puts them together in this order.

They are found by callgrind, which writes the address of each instruction that ran.
"""

import pathlib
import shutil
from collections import Counter
from collections.abc import Sequence

import sides
from instructions import bare, control
from load import load
from symbols import Symbols
from workloads import Workload

# Requests of a workload, and the seconds for those that can be repeated.
REQUESTS, SECONDS = 64, 2


def write(bench, workloads: Sequence[Workload], path: pathlib.Path) -> None:
    """The functions that most workloads run come first, those that only a start and a stop run last. One on each line."""
    command, environment = sides.program("functions", bench.sockets, 2)
    symbols = Symbols(command[0])
    program = bare(command[0])
    dumps = sides.WORK / "functions-dumps"
    shutil.rmtree(dumps, ignore_errors=True)
    dumps.mkdir()
    callgrind = ["valgrind", "-q", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no"]
    side = sides.start("functions", [*callgrind, f"--callgrind-out-file={dumps}/%p", program], environment, bench.sockets)
    pid = side.responders[0].pid
    uses: Counter[str] = Counter()
    try:
        control(pid, "--dump")
        before = set(dumps.iterdir())
        for workload in workloads:
            load(side, workload, workload.prepare(workload.connections if workload.chain else REQUESTS), SECONDS)
            control(pid, "--dump")
            after = set(dumps.iterdir())
            found = symbols.at(after - before, program)
            print(f"{workload.title}: {len(found)} functions", flush=True)
            uses.update(found)
            before = after
    finally:
        side.stop()
    last = dumps / str(pid)
    if not last.is_file() or not last.stat().st_size:
        raise SystemExit("error: the server ended without its last dump; try again")
    rest = symbols.at(dumps.iterdir(), program) - uses.keys()
    if not uses or not rest:
        raise SystemExit(f"error: callgrind saw {len(uses)} functions of requests and {len(rest)} others")
    names = [*sorted(uses, key=lambda name: (-uses[name], name)), *sorted(rest)]
    new = path.with_name(path.name + ".new")
    new.write_text("\n".join(names) + "\n")
    new.replace(path)
    print(f"{len(uses)} functions of requests, and {len(rest)} others", flush=True)
