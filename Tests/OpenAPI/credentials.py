"""A credential for every security scheme of the document, and other things that exist, made with the instance's means."""

import base64
import hashlib
import os
import secrets
import subprocess
import threading
import uuid
from functools import cached_property
from pathlib import Path

import requests

URL = os.environ["MERGANSER_URL"]
CALLBACK = URL + "/dev/callback"
PROJECT_ID = os.environ["MERGANSER_PROJECT_ID"]
BUNDLE_ID = os.environ["MERGANSER_BUNDLE_ID"]
CLIENT_ID = os.environ["MERGANSER_CLIENT_ID"]
CONFIDENTIAL_CLIENT_ID = os.environ["MERGANSER_CONFIDENTIAL_CLIENT_ID"]
CONFIDENTIAL_CLIENT = (CONFIDENTIAL_CLIENT_ID, os.environ["MERGANSER_CONFIDENTIAL_CLIENT_SECRET"])
CLIENT_KEY = os.environ["MERGANSER_CLIENT_KEY"]
IMPORT_KEY = os.environ["MERGANSER_IMPORT_KEY"]
AGENT_KEY = os.environ["MERGANSER_AGENT_KEY"]

Members = dict[str, str]


def merganserctl(*arguments: str) -> str:
    """Runs the operator's tool and returns what it printed."""
    return subprocess.run([os.environ["MERGANSERCTL"], *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def post(path: str, token: str | None = None, **members: object) -> dict:
    """Sends JSON; the answer, which must be a success."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = requests.post(URL + path, json=members, headers=headers, timeout=10)
    answer.raise_for_status()
    return answer.json()


def anonymous_pak() -> str:
    """The PAK of a new anonymous account."""
    return post("/api/v1/devices", device_uuid=str(uuid.uuid4()), platform="ios")["access_token"]


def identity(subject: str, provider: str = "apple") -> Members:
    """The proof that the provider knows somebody as that subject."""
    nonce = secrets.token_urlsafe(16)
    token = merganserctl(
        "dev", "token", "--provider", provider, "--subject", subject, "--nonce", nonce,
        "--email", f"{subject}@example.com", "--email-verified", "true",
    )  # fmt: skip
    return {"identity_token": token.strip(), "raw_nonce": nonce}


def notification() -> str:
    """What Apple's server says of somebody, signed."""
    parameters = {"type": "email-disabled", "sub": secrets.token_hex(8)}
    answer = requests.get(os.environ["MERGANSER_PROVIDER"] + "/apple/notification", params=parameters, timeout=10)
    answer.raise_for_status()
    return answer.text


def code(pak: str, client_id: str) -> Members:
    """A code of that client and what it is exchanged with."""
    verifier = secrets.token_urlsafe(32)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    answer = post(
        "/api/v1/oauth/authorize", pak, response_type="code", client_id=client_id, redirect_uri=CALLBACK,
        scope="openid profile:basic email", state=secrets.token_hex(8), code_challenge=challenge,
        code_challenge_method="S256",
    )  # fmt: skip
    return {"code": answer["code"], "redirect_uri": CALLBACK, "client_id": client_id, "code_verifier": verifier}


def tokens(pak: str, client_id: str = CLIENT_ID, basic: tuple[str, str] | None = None) -> Members:
    """Access, refresh and id token of that client."""
    form = code(pak, client_id) | {"grant_type": "authorization_code"}
    answer = requests.post(URL + "/oauth/token", data=form, auth=basic, timeout=10)
    answer.raise_for_status()
    return answer.json()


def connected_pak() -> str:
    """Of a new account that allowed the client what it asks for."""
    pak = anonymous_pak()
    code(pak, CLIENT_ID)
    return pak


def agent(pak: str) -> Members:
    """A new agent that does not sign."""
    forget_limits()
    return post("/api/v1/me/agents", pak, name="Agent", type="custom", auth_mode="bearer_only")


def is_agent(token: str) -> bool:
    headers = {"Authorization": f"Bearer {token}"}
    return requests.get(f"{URL}/api/agents/approvals/none", headers=headers, timeout=10).status_code != 401


def approval(token: str) -> Members:
    """A request that waits. Only ten may."""
    forget_limits()
    subprocess.run(
        [os.environ["MERGANSER_DB"], "-e", "UPDATE agent_approvals SET status = 'expired' WHERE status = 'pending'"],
        check=True)
    body = {"action_type": secrets.token_hex(4), "title": "Title", "body": "Body"}
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": secrets.token_hex(8)}
    answer = requests.post(URL + "/api/agents/approvals", json=body, headers=headers, timeout=10)
    answer.raise_for_status()
    return answer.json()


def device_request() -> Members:
    """One that nobody has decided about."""
    form = {"client_id": CLIENT_ID, "scope": "openid"}
    return requests.post(URL + "/oauth/device_authorization", data=form, timeout=10).json()


def visit() -> tuple[Members, str]:
    """A browser that a relying party sent here: its cookie, and the handle of the request that waits in it."""
    parameters = {
        "response_type": "code", "client_id": CLIENT_ID, "redirect_uri": CALLBACK, "scope": "openid", "state": "s",
        "code_challenge": "x" * 43, "code_challenge_method": "S256",
    }  # fmt: skip
    answer = requests.get(URL + "/oauth/authorize", params=parameters, allow_redirects=False, timeout=10)
    return answer.cookies.get_dict(), answer.headers["Location"].partition("?request=")[2]


FILE = b"hello"


def reserve() -> str:
    """The id of an attachment to come, with the bytes of `FILE`."""
    return post(
        "/v1/ingest/attachment", CLIENT_KEY, client_event_id=str(uuid.uuid4()), original_filename="hello.txt",
        content_type="text/plain", size_bytes=len(FILE), sha256=hashlib.sha256(FILE).hexdigest(),
    )["attachment_id"]  # fmt: skip


def upload() -> Members:
    """What the answer to an upload says."""
    headers = {"Authorization": f"Bearer {CLIENT_KEY}", "Content-Type": "application/octet-stream"}
    answer = requests.put(f"{URL}/v1/ingest/attachment/{reserve()}", data=FILE, headers=headers, timeout=10)
    answer.raise_for_status()
    return answer.json()


def first(path: str, kind: str) -> str:
    """The id of the first of what a read of the analytics API lists."""
    return requests.get(URL + path, headers={"Authorization": f"Bearer {AGENT_KEY}"}, timeout=10).json()[kind][0]["id"]


def forget_limits() -> None:
    """Lets tests ask more often than people may.

    Requests of other tests count meanwhile, so this may meet a deadlock.
    """
    command = [os.environ["MERGANSER_DB"], "-e", "DELETE FROM rate_limits"]
    for _ in range(10):
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if "ERROR 1213" not in done.stderr:
            break
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


class People:
    """Accounts that stay, each made when it is first needed."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.last_agent = ""

    @cached_property
    def identities(self) -> list[Members]:
        """Of an account that is there, then of such as may come."""
        owner = identity("owner")
        post("/api/v1/auth/apple/session", **owner)
        return [owner, *(identity(f"person{number}") for number in range(4))]

    @cached_property
    def user(self) -> dict:
        return post("/api/v1/auth/apple/session", **identity("user"))

    @property
    def pak(self) -> str:
        return self.user["access_token"]

    @cached_property
    def linked(self) -> tuple[str, list[Members]]:
        """A PAK, and an identity of each provider that may be its user's."""
        identities = [identity("linked", provider) | {"provider": provider} for provider in ("apple", "google")]
        return post("/api/v1/auth/apple/session", **identities[0])["access_token"], identities

    def pak_with_identities(self) -> str:
        """Of a user with an identity of each provider, also if a test has removed one."""
        pak, identities = self.linked
        for proof in identities:
            post("/api/v1/me/connected_identities", pak, **proof)
        return pak

    @cached_property
    def developer_pak(self) -> str:
        answer = post("/api/v1/auth/apple/session", **identity("developer"))
        merganserctl("user", "role", str(answer["user"]["id"]), "developer")
        return answer["access_token"]

    @cached_property
    def administrator(self) -> dict:
        answer = post("/api/v1/auth/apple/session", **identity("administrator"))
        merganserctl("user", "role", str(answer["user"]["id"]), "admin")
        return answer

    @cached_property
    def application(self) -> str:
        """The developer's own, by client_id."""
        members = {"name": "Tests", "client_type": "confidential", "redirect_uris": [CALLBACK]}
        return post("/api/v1/applications", self.developer_pak, application=members)["client_id"]

    @cached_property
    def application_with_webhook(self) -> str:
        """Another one, by client_id. Nobody answers under its URL."""
        members = {"name": "Webhooks", "client_type": "confidential", "redirect_uris": [CALLBACK]}
        members["webhook_url"] = "https://hooks.example.com/in"
        return post("/api/v1/applications", self.developer_pak, application=members)["client_id"]

    @property
    def agent(self) -> str:
        """The token of an agent that does not sign. Lists show its id, so a test may have revoked it; then it is another one's."""
        with self.lock:
            if not is_agent(self.last_agent):
                self.last_agent = agent(self.pak)["token"]
            return self.last_agent

    @cached_property
    def access_token(self) -> str:
        return tokens(self.pak)["access_token"]

    @cached_property
    def confidential_token(self) -> str:
        """An access token of the confidential client, which so knows the user's sub."""
        return tokens(self.pak, CONFIDENTIAL_CLIENT_ID, CONFIDENTIAL_CLIENT)["access_token"]


PEOPLE = People()


def bearer(scheme: str, roles: list[str], operation_id: str) -> str:
    """The token that opens an operation. Where a test uses one up, there is a new one each time."""
    with PEOPLE.lock:
        match scheme:
            case "apiKey" if operation_id == "importEvents":
                return IMPORT_KEY
            case "apiKey":
                return CLIENT_KEY if roles[0].endswith(":write") else AGENT_KEY
            case "accessToken" if operation_id == "exchangeDeviceKey":
                return tokens(anonymous_pak())["access_token"]
            case "accessToken":
                return PEOPLE.access_token
            case "agent":
                return PEOPLE.agent
            case "pak" if operation_id == "createAgent":
                forget_limits()
                return PEOPLE.pak
            case "anonymousPAK":
                return anonymous_pak()
            case "developerPAK":
                if operation_id == "registerApplication":
                    forget_limits()
                return PEOPLE.developer_pak
            case "administratorPAK":
                return PEOPLE.administrator["access_token"]
            case "identifiedPAK":
                return PEOPLE.pak
            case "pak" if operation_id in ("endSession", "linkIdentity", "decideDevice", "deleteAccount"):
                return anonymous_pak()
            case "pak" if operation_id == "disconnectApp":
                return connected_pak()
            case "pak" if operation_id == "unlinkIdentity":
                return PEOPLE.pak_with_identities()
            case "pak":
                return PEOPLE.pak
    raise AssertionError(f"no credential for {scheme}")


def merge_token() -> str:
    """Of a new account that may be absorbed."""
    return post("/api/v1/me/merge/session-token", anonymous_pak())["session_token"]


def merge() -> str:
    """The id of a merge that the user survived."""
    token = merge_token()
    return str(post("/api/v1/me/merge", PEOPLE.pak, target_session_token=token)["identity_link_id"])


def furnish() -> None:
    """Makes what the document's examples ask for, an event of an end user, and what few may be made of in an hour."""
    definition = Path(__file__).parents[1] / "Fixtures/questionnaire.json"
    merganserctl("questionnaire", "create", "--project", PROJECT_ID, str(definition))
    event = {"session_id": str(uuid.uuid4()), "level": "info", "message": "seen", "user_id": "mina"}
    post("/v1/ingest", CLIENT_KEY, bundle_id=BUNDLE_ID, events=[event])
    assert PEOPLE.application
