"""The statements that the floor sends to the database, learned from recordings of Merganser's for the same requests.

A few requests of a workload are recorded (floor/record.c). If a parameter is the same in all recordings, it is a
constant. If it differs, a source is searched that explains every recording: a field of the request or its digest, a
value of an earlier row, a number of a list in one, the id of an earlier insert, a secret in the answer, the time, or
chance. So the statements cannot drift from Merganser's. Before anything is measured, it is checked that the floor
touches as many rows.

A plan as floor.c reads it, text in hexadecimal digits:

    plan NAME
    query SQL                          over the text protocol
    execute SQL ROWS PARAMETERS KEEP   prepared; in bulk if ROWS is not 0; KEEP rows are used later
     TYPE PART…                        one line for each parameter (n NULL, i integer, d double, s text, b bytes, t time);
                                       several parts are joined
    sign COUNT                         RS256 signatures, which every implementation must make
    row                                the answer is the first value of the first row
    token OFFSET.LENGTH                where the answer has a secret that is new each time
    head, body                         of the answer
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone

UUID = re.compile(rb"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}")
HEX = re.compile(rb"[0-9a-f]+")
LIST = re.compile(rb"[0-9]+(?:,[0-9]+)+")
PIECES = re.compile(rb"[A-Za-z0-9_-]+|[^A-Za-z0-9_-]+")
# Between a request's being sent and its time being read in the server.
SLACK = 1.5

Value = bytes | None


@dataclass(slots=True)
class Statement:
    """One statement with its arguments and its result."""

    sql: bytes
    prepared: bool
    bulk_rows: int = 0
    parameters: list[tuple[str, Value]] = field(default_factory=list)
    touched: int = 0
    insert_id: bytes = b"0"
    rows: list[list[Value]] = field(default_factory=list)


@dataclass(slots=True)
class Recording:
    """The statements of one request, and its answer."""

    fields: Sequence[str]
    time: float
    statements: list[Statement]
    status: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def shape(self) -> tuple:
        return tuple((each.sql, each.bulk_rows) for each in self.statements)

    @property
    def secrets(self) -> list[bytes]:
        """The strings of the answer that may be random: the longer ones."""
        try:
            return [text.encode() for text in strings(json.loads(self.body)) if 20 <= len(text) < 128]
        except ValueError:
            return []


def strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from (text for member in value.values() for text in strings(member))
        case list():
            yield from (text for member in value for text in strings(member))


def read_statements(lines: Sequence[str]) -> list[Statement]:
    """The statements in one thread's lines, in their order."""
    statements: list[Statement] = []
    for line in lines:
        _, kind, *words = line.split()
        match kind:
            case "query":
                statements.append(Statement(bytes.fromhex(words[0]), prepared=False))
            case "execute":
                statements.append(
                    Statement(bytes.fromhex(words[0]), True, int(words[1]), [parameter(word) for word in words[2:]])
                )
            case "done":
                statements[-1].touched, statements[-1].insert_id = int(words[0]), words[1].encode()
            case "rows":
                count, columns = int(words[0]), int(words[1])
                values = [parameter(word)[1] for word in words[2:]]
                statements[-1].touched = count
                statements[-1].rows = [values[row * columns : (row + 1) * columns] for row in range(count)]
    return statements


def parts(statement: Statement) -> Iterator[Statement]:
    """The statements that were sent together as one, each with its own arguments; or the statement itself."""
    if not statement.sql.startswith(b"BEGIN NOT ATOMIC "):
        yield statement
        return
    rest = iter(statement.parameters)
    for text in statement.sql.strip().removeprefix(b"BEGIN NOT ATOMIC ").removesuffix(b"; END").split(b"; "):
        if text == b"COMMIT":
            yield Statement(text, prepared=False)
            continue
        own = [next(rest) for _ in range(text.count(b"?"))]
        has_rows = text.lstrip().startswith(b"SELECT") or b" RETURNING " in text
        rows = statement.rows if has_rows else []
        yield Statement(text, True, 0, own, len(rows), statement.insert_id, rows)


def parameter(word: str) -> tuple[str, Value]:
    kind, _, value = word.partition(":")
    return (kind, None) if kind == "n" else (kind, bytes.fromhex(value) if kind in "sb" else value.encode())


class Plan:
    """Learns from recordings, which may differ only in their values."""

    def __init__(self, name: str, recordings: Sequence[Recording], signatures: int = 0, chain: str = "") -> None:
        """chain: the member of the answer that the next request needs, which therefore must be new each time."""
        self.name, self.recordings, self.signatures = name, recordings, signatures
        self.last = recordings[-1]
        self.uuids: dict[tuple[bytes, ...], int] = {}
        self.chances: dict[tuple[bytes, ...], int] = {}
        self.kept: dict[int, int] = {}
        self.tokens: list[int] = []
        self.secrets = list(zip(*(recording.secrets for recording in recordings), strict=False))
        self.guesses: list[str] = []
        self.lines = [f"plan {name}"]
        bodies = [self.statement(index) for index in range(len(self.last.statements))]
        for index, (head, parameters) in enumerate(bodies):
            self.lines += [head + (f" {self.kept.get(index, 0)}" if head.startswith("execute") else ""), *parameters]
        if chain:
            self.token(self.last.secrets.index(json.loads(self.last.body)[chain].encode()))
        self.answer()

    @property
    def touched(self) -> list[int]:
        return [each.touched for each in self.last.statements]

    def statement(self, index: int) -> tuple[str, list[str]]:
        last = self.last.statements[index]
        if not last.prepared:
            return f"query {last.sql.hex()}", []
        count = len(last.parameters) // (last.bulk_rows or 1)
        lines = []
        for position in range(len(last.parameters)):
            given = [recording.statements[index].parameters[position] for recording in self.recordings]
            lines.append(" " + self.parameter(index, given))
        return f"execute {last.sql.hex()} {last.bulk_rows} {count}", lines

    def parameter(self, index: int, given: list[tuple[str, Value]]) -> str:
        kind, last = given[-1]
        if kind == "n":
            return "n"
        values = [value for _, value in given]
        if any(each != kind for each, _ in given) or None in values:
            return f"{kind} c{last.hex()}"
        parts = self.source(index, kind, values)
        if parts is None:
            self.guesses.append(f"{self.last.statements[index].sql.decode()[:50]}: {last[:40]!r}")
            parts = ["c" + last.hex()]
        return " ".join([kind, *parts])

    def source(self, index: int, kind: str, values: list[bytes], pieces: bool = True) -> list[str] | None:
        """The parts that make these values, one value for each recording; None if no source explains them."""
        if len(set(values)) == 1:
            return ["c" + values[0].hex()]
        explained = self.whole(index, kind, values)
        if explained or kind not in "sb":
            return [explained] if explained else None
        if kind == "s" and pieces and (parts := self.composed(index, values)):
            return parts
        # A number is an id.
        if len({len(value) for value in values}) == 1 and len(values[0]) >= 8 and not values[-1].isdigit():
            number = self.chances.setdefault(tuple(values), len(self.chances))
            # Random bytes are no text; digits are, in any character set.
            is_text = kind == "s" and all(value.isascii() for value in values)
            digits = is_text or all(HEX.fullmatch(value) for value in values)
            return [f"{'X' if digits else 'x'}{len(values[0])}.{number}"]
        return None

    def whole(self, index: int, kind: str, values: list[bytes]) -> str | None:
        def fits(value: Callable[[int], Value]) -> bool:
            return all(value(number) == values[number] for number in range(len(values)))

        recordings = self.recordings
        for position in range(len(self.last.fields)):
            field_of = lambda number: recordings[number].fields[position]
            if fits(lambda number: field_of(number).encode()):
                return f"f{position}"
            if fits(lambda number: hashlib.sha256(field_of(number).encode()).digest()):
                return f"h{position}"
            if len(values[0]) * 2 == len(field_of(0)) and fits(lambda number: unhex(field_of(number))):
                return f"b{position}"
        for earlier in range(index):
            if fits(lambda number: recordings[number].statements[earlier].insert_id):
                return f"i{earlier}"
            rows = min(len(recording.statements[earlier].rows) for recording in recordings)
            for row in range(min(rows, 64)):
                for column in range(len(self.last.statements[earlier].rows[row])):
                    if fits(lambda number: same(kind, recordings[number].statements[earlier].rows[row][column])):
                        self.kept[earlier] = max(self.kept.get(earlier, 0), row + 1)
                        return f"r{earlier}.{column}.{row}"
                    for word in range(len(words(self.last.statements[earlier].rows[row][column]))):
                        if fits(
                            lambda number: words(recordings[number].statements[earlier].rows[row][column]).get(word)
                        ):
                            self.kept[earlier] = max(self.kept.get(earlier, 0), row + 1)
                            return f"w{earlier}.{column}.{row}.{word}"
                    if kind == "i" and fits(
                        lambda number: following(recordings[number].statements[earlier].rows[row][column])
                    ):
                        self.kept[earlier] = max(self.kept.get(earlier, 0), row + 1)
                        return f"n{earlier}.{column}.{row}"
        for position, secret in enumerate(self.secrets):
            if fits(lambda number: secret[number]):
                return f"a{self.token(position)}"
            if fits(lambda number: hashlib.sha256(secret[number]).digest()):
                return f"A{self.token(position)}"
        if kind == "t":
            offsets = [timestamp(value) - recording.time for value, recording in zip(values, recordings)]
            if max(offsets) - min(offsets) < SLACK:
                return f"t{round(offsets[-1]) * 1000}"
        ids = tuple(uuid_bytes(kind, value) for value in values)
        if all(ids):
            number = self.uuids.setdefault(ids, len(self.uuids))
            return f"{'v' if ids[-1][6] >> 4 == 7 else 'u'}{number}.{len(values[-1])}"
        return None

    def token(self, position: int) -> int:
        if position not in self.tokens:
            self.tokens.append(position)
        return self.tokens.index(position)

    def composed(self, index: int, values: list[bytes]) -> list[str] | None:
        """A text, like JSON, in which some words differ."""
        if not all(value.isascii() and value.decode().isprintable() for value in values):
            return None
        split = [PIECES.findall(value) for value in values]
        if len({len(pieces) for pieces in split}) != 1 or len(split[0]) == 1:
            return None
        parts: list[str] = []
        for words in zip(*split):
            part = self.source(index, "s", list(words), pieces=False) or ["c" + words[-1].hex()]
            if parts and parts[-1][0] == "c" and part[0][0] == "c":
                parts[-1] += part[0][1:]
            else:
                parts += part
        return parts

    def answer(self) -> None:
        body = self.last.body
        if self.signatures:
            self.lines.append(f"sign {self.signatures}")
        for position in self.tokens:
            secret = self.last.secrets[position]
            self.lines.append(f"token {body.index(secret)}.{len(secret)}")
        head = f"Status: {self.last.status}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in self.last.headers)
        self.lines += [f"head {head.encode().hex()}", f"body {body.hex()}"]


def same(kind: str, value: Value) -> Value:
    """A column's text in the form of a parameter of this type."""
    if kind != "t" or value is None:
        return value
    whole, _, fraction = value.replace(b" ", b"T").partition(b".")
    return whole + b"." + fraction.ljust(6, b"0")


def words(value: Value) -> dict[int, bytes]:
    """The numbers of a list, by their position; empty if it is no list."""
    return dict(enumerate(value.split(b","))) if value and LIST.fullmatch(value) else {}


def following(value: Value) -> Value:
    """The next number of a count."""
    return str(int(value) + 1).encode() if value and value.isdigit() else None


def uuid_bytes(kind: str, value: bytes) -> bytes:
    """The bytes of a UUID of version 4 or 7, given as bytes or as digits; empty if it is not a UUID."""
    if kind == "s" and UUID.fullmatch(value):
        value = bytes.fromhex(value.decode().replace("-", ""))
    return value if len(value) == 16 and value[6] >> 4 in (4, 7) and value[8] >> 6 == 2 else b""


def unhex(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None


def timestamp(value: bytes) -> float:
    return datetime.fromisoformat(value.decode()).replace(tzinfo=timezone.utc).timestamp()
