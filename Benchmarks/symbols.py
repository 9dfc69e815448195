"""Which functions of a program ran, and how many instructions each of its parts took, from what callgrind writes of each
instruction.
"""

import bisect
import pathlib
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator

# Where an instruction is, by the names of shared objects; all others are the C library's.
LIBRARIES = {"libmariadb": "Connector/C", "libfcgi": "libfcgi", "libcrypto": "OpenSSL"}
C_LIBRARY, RUNTIME, STANDARD_LIBRARY = "C library", "Swift's runtime", "Swift's library"
# And in the program, by the names of modules.
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

    def __init__(self, program: str) -> None:
        # scripts/release keeps the symbols beside the program.
        beside = pathlib.Path(program + ".debug")
        command = ["nm", "-n", "-S", beside if beside.is_file() else program]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        fields = [line.split() for line in text.splitlines()]
        self.functions = [(int(each[0], 16), int(each[1], 16), each[3]) for each in fields if len(each) == 4 and each[2] in "tTwWiI"]
        self.addresses = [address for address, _, _ in self.functions]

    def name(self, address: int) -> str | None:
        begin, size, name = self.functions[bisect.bisect(self.addresses, address) - 1]
        return name if begin <= address < begin + size else None

    def at(self, dumps: Iterable[pathlib.Path], program: pathlib.Path) -> set[str]:
        """
        Those that ran, of the section .text. The hottest ones have another section, which the linker keeps together without being
        told to.
        """
        found = set()
        for dump in dumps:
            addresses = {address for name, address, _ in executed(dump) if name == str(program)}
            found |= {name for address in addresses if (name := self.name(address))}
        return found

    def parts(self, dump: pathlib.Path, program: pathlib.Path, loaded_at: int) -> dict[str, int]:
        """
        The instructions of each of PARTS.

        loaded_at: where the program's first byte is in memory. valgrind 3.19 gives addresses in the file for the section .text
        alone, and addresses in memory for the others, where the hottest functions are.
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
    """
    Where a function of the program belongs. A symbol begins with the module of the type that it is about. What another module adds
    to that type belongs to the other one, and a generic function's copy to the module that declares the function. The few
    functions without a name are the runtime's.
    """
    if not name.startswith("$s"):
        return RUNTIME
    if named := re.search(r"\(extension in (\w+)\):", plain) or re.search(r" in conformance .+ in (\w+)$", plain):
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
