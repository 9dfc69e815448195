"""Which functions of a program ran, and how many instructions each of its parts took, from what callgrind writes of each
instruction.
"""

import bisect
import pathlib
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator

# Whoever executed an instruction, by the names of shared objects.
LIBRARIES = {"libmariadb": "Connector/C", "libfcgi": "libfcgi", "libcrypto": "OpenSSL"}
C_LIBRARY, RUNTIME, STANDARD_LIBRARY = "C library", "Swift's runtime", "Swift's library"
# And those of the program, by the names of modules.
MODULES = {
    "JSON": "JSON",
    "MariaDB": "statements",
    "Database": "statements",
    "FastCGI": "HTTP",
    "HTTP": "HTTP",
    "API": "endpoints",
}
OTHER_MODULES = "rules"
PARTS = (*dict.fromkeys((*MODULES.values(), OTHER_MODULES)), STANDARD_LIBRARY, RUNTIME, *LIBRARIES.values(), C_LIBRARY)
# Modules that come with the compiler.
SUPPLIED = ("Foundation", "_Foundation", "Glibc", "Synchronization", "_StringProcessing", "_RegexParser", "Swift")


class Symbols:
    """The functions of a program, by their addresses in its file. Not each instruction belongs to one: some have no name."""

    def __init__(self, program: pathlib.Path) -> None:
        lines = subprocess.run(["nm", "-n", "-S", program], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        fields = [line.split() for line in lines]
        self.functions = [(int(each[0], 16), int(each[1], 16), each[3]) for each in fields if len(each) == 4 and each[2] in "tTwWiI"]
        self.addresses = [address for address, _, _ in self.functions]

    def name(self, address: int) -> str | None:
        begin, size, name = self.functions[bisect.bisect(self.addresses, address) - 1]
        return name if begin <= address < begin + size else None

    def at(self, dumps: Iterable[pathlib.Path], program: pathlib.Path) -> set[str]:
        """Those that ran."""
        found = set()
        for dump in dumps:
            addresses = {address for name, address, _ in executed(dump) if name == str(program)}
            found |= {name for address in addresses if (name := self.name(address))}
        return found

    def parts(self, dump: pathlib.Path, program: pathlib.Path, loaded_at: int) -> dict[str, int]:
        """
        The instructions of each of PARTS.

        loaded_at: what the program's address in memory is beyond that in its file. valgrind 3.19 knows one executable segment of
        a file, and gives the addresses in memory for all others, where the hottest functions are.
        """
        counts: Counter[str] = Counter()
        names: Counter[str] = Counter()
        for where, address, instructions in executed(dump):
            if where in (str(program), "???"):
                names[self.name(address if where != "???" else address - loaded_at) or ""] += instructions
            else:
                library = pathlib.Path(where).name.split(".")[0]
                counts[LIBRARIES.get(library, C_LIBRARY)] += instructions
        for name, plain in zip(names, demangled(names)):
            counts[part(name, plain)] += names[name]
        return {name: counts[name] for name in PARTS}


def demangled(names: Iterable[str]) -> list[str]:
    text = "\n".join(names) + "\n"
    done = subprocess.run(["swift", "demangle", "--compact"], input=text, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()


def part(name: str, plain: str) -> str:
    """Where a function of the program belongs: a symbol begins with the module of what it was declared in."""
    if not name.startswith("$s"):
        return RUNTIME
    # A generic function's copy for one of our types, or a method that a module of ours adds, names its module behind the type.
    if named := re.search(r"\(extension in (\w+)\):", plain):
        module = named[1]
    elif named := re.match(r"\$s(\d+)", name):
        module = name[named.end() :][: int(named[1])]
    else:
        module = "Swift"
    if module.startswith(SUPPLIED):
        return STANDARD_LIBRARY
    return MODULES.get(module, OTHER_MODULES)


def executed(dump: pathlib.Path) -> Iterator[tuple[str, int, int]]:
    """
    The file of each instruction that ran, its address and how often it ran. What a call took besides is left out. A dump names an
    object once, and then by its number.
    """
    names: dict[str, str] = {}
    current = "???"
    is_call = False
    with open(dump) as file:
        for line in file:
            if line.startswith("0x"):
                if not is_call:
                    address, _, costs = line.split(" ", 2)
                    yield current, int(address, 16), int(costs.split(" ", 1)[0])
                is_call = False
            elif line.startswith("calls="):
                is_call = True
            elif line.startswith(("ob=", "cob=")):
                key, _, value = line.strip().partition("=")
                number, _, name = value.partition(" ")
                if name:
                    names[number] = name
                if key == "ob":
                    current = names[number]
