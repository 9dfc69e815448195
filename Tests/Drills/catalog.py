"""What drills of several scenarios share: what a scenario is, and the command line that chooses among them."""

import argparse
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Entry:
    """A scenario. Each drill adds what it demands of one."""

    # Its name and its documentation are the scenario's. Called with the drill.
    run: Callable[[Any], None]
    # The breaks that this scenario must notice.
    broken_by: tuple[str, ...]
    # Whether it also runs with --short.
    is_short: bool
    # The unexpected statuses that clients may see; None is a connection that ends without an answer.
    may: set[int | None]

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def summary(self) -> str:
        return " ".join((self.run.__doc__ or "").split())


def make_parser(text: str | None, scenarios: Mapping[str, Entry], breaks: Mapping[str, str]) -> argparse.ArgumentParser:
    """text: what the drill does."""
    width = max(map(len, scenarios)) + 2
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="scenarios, and the breaks that each must notice:\n"
        + "".join(f"  {name:{width}}{one.summary} ({', '.join(one.broken_by)})\n" for name, one in scenarios.items())
        + "\nbreaks:\n" + "".join(f"  {name:{width}}{text}\n" for name, text in breaks.items()))
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO",
                        help="run only these (default: all; with --short, some)")
    parser.add_argument("--short", action="store_true", help="run fewer scenarios, with shorter times")
    parser.add_argument("--break", dest="broken", choices=breaks, help="break the guarantee; the drill must notice")
    parser.add_argument("--prove", action="store_true",
                        help="break each scenario in its own ways; fails if one does not notice")
    return parser


def parse(parser: argparse.ArgumentParser,
          scenarios: Mapping[str, Any]) -> tuple[argparse.Namespace, list[tuple[Any, str | None]]]:
    """The options, and the scenarios that are to run, each with what is to be broken."""
    options = parser.parse_args()
    if unknown := set(options.scenarios) - scenarios.keys():
        parser.error(f"there is no scenario {', '.join(sorted(unknown))}")
    names = options.scenarios or [name for name, one in scenarios.items() if one.is_short or not options.short]
    return options, [(scenarios[name], how) for name in names
                     for how in (scenarios[name].broken_by if options.prove else [options.broken])]
