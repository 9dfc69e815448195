"""Writes the manual pages of both programs from their own help.

Usage: manual.py PROGRAMS FOLDER, where PROGRAMS has merganserd and merganserctl.
"""

import json
import pathlib
import re
import subprocess
import sys


def say(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def roff(text: str) -> str:
    """Text as it is: no character of it is a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def heading(name: str, version: str, abstract: str) -> str:
    return f'.TH {name.upper()} 8 "" "Merganser {version}" "System administration"\n.SH NAME\n{name} \\- {roff(abstract)}\n'


def spelled(argument: dict) -> str:
    """An argument as people write it, such as `--name NAME`."""
    names = [("--" if name["kind"] == "long" else "-") + name["name"] for name in argument.get("names", [])]
    value = argument.get("valueName", "").replace("-", "_").upper()
    if argument["kind"] == "positional":
        return f"\\fI{roff(value)}\\fR"
    words = ", ".join(f"\\fB{roff(name)}\\fR" for name in names)
    return words + (f" \\fI{roff(value)}\\fR" if argument["kind"] == "option" else "")


def sentence(argument: dict) -> str:
    text = " ".join(filter(None, [argument.get("abstract", ""), argument.get("discussion", "")]))
    if values := argument.get("allValueStrings"):
        text += f" One of {', '.join(values)}."
    if default := argument.get("defaultValue"):
        text += f" Default: {default}."
    return text.strip()


def shown(command: dict) -> list[dict]:
    """The arguments of a command. --help and --version are the same for all."""
    known = {"help", "version"}
    return [
        argument
        for argument in command.get("arguments", [])
        if argument.get("shouldDisplay", True) and not known & {name["name"] for name in argument.get("names", [])}
    ]


def described(arguments: list[dict]) -> str:
    return "".join(f".TP\n{spelled(argument)}\n{roff(sentence(argument))}\n" for argument in arguments)


def commands(command: dict, words: list[str]) -> str:
    """A section of each command that has no commands of its own."""
    below = [each for each in command.get("subcommands", []) if each["commandName"] != "help"]
    if below:
        return "".join(commands(each, words + [each["commandName"]]) for each in below)
    positional = " ".join(spelled(each) for each in shown(command) if each["kind"] == "positional")
    text = f'.SS "{roff(" ".join(words))}"\n\\fBmerganserctl {roff(" ".join(words))}\\fR [options] {positional}\n.PP\n'
    text += roff(command.get("abstract", "")) + "\n"
    if discussion := command.get("discussion"):
        text += f".PP\n{roff(discussion)}\n"
    return text + described(shown(command))


def tool(program: str, version: str) -> str:
    root = json.loads(say(program, "--experimental-dump-help"))["command"]
    abstract = root["abstract"][0].lower() + root["abstract"][1:].rstrip(".")
    return (
        heading("merganserctl", version, abstract)
        + ".SH SYNOPSIS\n\\fBmerganserctl\\fR \\fICOMMAND\\fR [options]\n"
        + f".SH DESCRIPTION\n{roff(root['discussion'])}\n"
        + f".SH COMMANDS\n{commands(root, [])}"
        + ".SH SEE ALSO\n.BR merganserd (8)\n"
    )


def server(program: str, version: str) -> str:
    usage, *rest = say(program, "--help").split("\n\n")
    return (
        heading("merganserd", version, "identity server for apps whose users begin without an account")
        + f".SH SYNOPSIS\n{roff(usage.removeprefix('Usage: '))}\n"
        + ".SH DESCRIPTION\n.nf\n"
        + roff("\n\n".join(rest))
        + "\n.fi\n.SH SEE ALSO\n.BR merganserctl (8)\n"
    )


def main() -> None:
    programs, folder = map(pathlib.Path, sys.argv[1:])
    version = say(str(programs / "merganserd"), "--version").split()[0]
    for name, page in (("merganserctl", tool), ("merganserd", server)):
        (folder / f"{name}.8").write_text(page(str(programs / name), version))


main()
