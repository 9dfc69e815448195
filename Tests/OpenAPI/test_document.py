"""Whether docs/openapi.yaml and the route table describe the same API; needs no server."""

import re
import unittest
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[2]
METHODS = {"get", "head", "post", "put", "patch", "delete", "options"}
# On the instances' control sockets, which are no part of the route table.
CONTROL = {("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/metrics")}

Security = list[dict[str, list[str]]]


class Route(NamedTuple):
    """A line of the route table: who is let in, and how a repeated request is recognized."""

    credential: str
    replays: bool

    @property
    def security(self) -> Security:
        """What the document has to say about the credential."""
        match self.credential.split(", "):
            case ["anyone"]:
                return []
            case ["PAK", "app-bound too"]:
                return [{"pak": []}, {"appBoundPAK": []}]
            case ["PAK", "app-bound too", scope]:
                return [{"pak": [scope]}, {"appBoundPAK": [scope]}]
            case ["PAK", *scopes]:
                return [{"pak": scopes}]
            case ["PAK of an anonymous user", scope]:
                return [{"anonymousPAK": [scope]}]
            case ["PAK of a developer", scope]:
                return [{"developerPAK": [scope]}]
            case ["PAK of an administrator", scope]:
                return [{"administratorPAK": [scope]}]
            case ["web session of an administrator"]:
                return [{"administratorSession": []}]
            case ["PAK of an identified user", scope]:
                return [{"identifiedPAK": [scope]}]
            case ["web session"]:
                return [{"webSession": []}]
            case ["agent"]:
                return [{"agent": []}]
            case ["access token"]:
                return [{"accessToken": []}]
            case ["client"]:
                return [{"client": []}, {}]
            case ["confidential client"]:
                return [{"client": ["confidential"]}, {}]
            case ["confidential client by Basic"]:
                return [{"client": ["confidential"]}]
            case [permission] if re.fullmatch(r"[a-z]+:[a-z]+", permission):
                return [{"apiKey": [permission]}]
        raise AssertionError(f"the document has no words for the credential {self.credential!r}")


def route_table() -> dict[tuple[str, str], Route]:
    """Tests/APITests/Golden/routes.txt, which RouteTableTests compares with the server."""
    routes = {}
    for line in (ROOT / "Tests/APITests/Golden/routes.txt").read_text().splitlines():
        method, path, rest = line.split(maxsplit=2)
        credential, *more = re.split(" {2,}", rest)
        routes[method, path] = Route(credential, replays=any("replays by" in text for text in more))
    return routes


def error_codes() -> dict[str, set[str]]:
    """Tests/APITests/Golden/error_codes.txt, which ErrorCodeTests compares with the server."""
    lines = (ROOT / "Tests/APITests/Golden/error_codes.txt").read_text().splitlines()
    return {code: set(statuses.split(", ")) for code, statuses in (line.split("  ") for line in lines)}


def refusals(name: str, member: str) -> set[tuple[str, str]]:
    """Status and code of each refusal in a golden file."""
    text = (ROOT / "Tests/APITests/Golden" / name).read_text()
    return set(re.findall(rf'^(\d+) {{"{member}":"(\w+)"', text, re.MULTILINE))


class UniqueKeys(yaml.SafeLoader):
    """Refuses a mapping that has a key twice, of which YAML would keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        keys = [key.value for key, _ in node.value]
        if twice := {key for key in keys if keys.count(key) > 1}:
            raise yaml.constructor.ConstructorError(None, None, f"twice: {', '.join(sorted(twice))}", node.start_mark)
        return super().construct_mapping(node, deep)


class Document(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.document = yaml.load((ROOT / "docs/openapi.yaml").read_text(), UniqueKeys)
        cls.operations = {
            (method.upper(), path): operation
            for path, item in cls.document["paths"].items()
            for method, operation in item.items()
            if method in METHODS
        }
        cls.routes = route_table()

    def test_every_route_is_described_and_no_other(self) -> None:
        self.assertGreater(len(self.routes), 70)
        self.assertEqual(set(self.operations), set(self.routes) | CONTROL)

    def test_credentials_are_those_of_the_routes(self) -> None:
        for name, route in self.routes.items():
            with self.subTest(" ".join(name)):
                self.assertEqual(self.operations[name]["security"], route.security)

    def test_idempotency_keys_are_described_where_they_count(self) -> None:
        for name, operation in self.operations.items():
            with self.subTest(" ".join(name)):
                keys = [p for p in operation.get("parameters", []) if "/IdempotencyKey" in p.get("$ref", "")]
                self.assertEqual(len(keys), int(name in self.routes and self.routes[name].replays))

    def described_codes(self, codes: Iterable[str], *paths: str) -> Iterator[tuple[str, str, str]]:
        """Operation, status and code, wherever the description of a response under these paths names one."""
        for (method, path), operation in self.operations.items():
            for status, response in operation["responses"].items() if path.startswith(paths) else ():
                shared = self.document["components"]["responses"].get(response.get("$ref", "").split("/")[-1], {})
                for code in re.findall("`([a-z_]+)`", (shared | response)["description"]):
                    if code in codes:
                        yield f"{method} {path}", status, code

    def test_error_codes_stand_at_statuses_of_theirs(self) -> None:
        codes = error_codes()
        described = set()
        for operation, status, code in self.described_codes(codes, "/api/", "/oauth/", "/auth/", "/session/", "/admin"):
            with self.subTest(f"{operation} {status} {code}"):
                fitting = {s for s in codes[code] if re.fullmatch(status.replace("X", "[0-9]"), s)}
                self.assertTrue(fitting, f"it comes with {codes[code]}")
                described |= {(s, code) for s in fitting}
        self.assertEqual(refusals("errors.txt", "error") - described, set(), "described nowhere")

    def test_codes_of_attachments_are_described(self) -> None:
        answered = refusals("attachment_errors.txt", "code")
        codes = {code for _, code in answered}
        schema = self.document["components"]["schemas"]["AnalyticsRejection"]
        self.assertEqual(set(schema["properties"]["code"]["enum"]), codes)
        described = self.described_codes(codes, "/v1/ingest/attachment")
        self.assertEqual({(status, code) for _, status, code in described}, answered)

    def test_operation_ids_name_functions(self) -> None:
        ids = [operation["operationId"] for operation in self.operations.values()]
        self.assertEqual(len(set(ids)), len(ids))
        for operation_id in ids:
            self.assertRegex(operation_id, "^[a-z][A-Za-z]+$")

    def test_what_is_defined_is_used(self) -> None:
        references = set(re.findall('"#/components/([A-Za-z0-9/]+)"', (ROOT / "docs/openapi.yaml").read_text()))
        # Security schemes are named, not referred to.
        defined = {f"{kind}/{name}" for kind, parts in self.document["components"].items() for name in parts}
        self.assertEqual({name for name in defined - references if not name.startswith("securitySchemes/")}, set())


if __name__ == "__main__":
    unittest.main()
