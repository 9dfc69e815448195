"""An agent that asks its user before it acts, as it would be written with the documentation alone."""

import base64
import hashlib
import json
import secrets
import time

import requests
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import provider


def canonical_json(value):
    """RFC 8785, for values whose numbers are integers."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


class Agent:
    """An agent of a phone's user. With a key it signs every request."""

    def __init__(self, phone, name="Build agent", signs=True, **members):
        self.key = Ed25519PrivateKey.generate() if signs else None
        body = {"name": name, "type": "claude", "auth_mode": "bearer_only", **members}
        if signs:
            public_key = self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
            body |= {"auth_mode": "signed", "public_key": base64.b64encode(public_key).decode()}
        answer = requests.post(provider.URL + "/api/v1/me/agents", json=body, headers=phone.headers)
        answer.raise_for_status()
        self.description = answer.json()
        self.id, self.token = self.description["id"], self.description["token"]

    def prepare(self, method, path, body=None, key=None):
        """A request with all its header fields, ready to be sent."""
        data = b"" if body is None else json.dumps(body).encode()
        headers = {"Authorization": "Bearer " + self.token}
        if key:
            headers["Idempotency-Key"] = key
        request = requests.Request(method, provider.URL + path, data=data, headers=headers).prepare()
        if self.key:
            self.sign(request)
        return request

    def sign(self, request):
        """Signs a request as it is now."""
        moment, nonce = str(int(time.time())), secrets.token_hex(16)
        digest = hashlib.sha256(request.body or b"").hexdigest()
        lines = [request.method, request.path_url, moment, nonce, digest, self.id]
        request.headers.update({
            "X-Agent-Timestamp": moment, "X-Agent-Nonce": nonce,
            "X-Agent-Signature": base64.b64encode(self.key.sign("\n".join(lines).encode())).decode(),
        })

    def send(self, *arguments, **options):
        return send(self.prepare(*arguments, **options))

    def ask(self, key=None, **members):
        body = {"action_type": "shell.exec", "title": "Run the tests", "body": "swift test", "context": {"folder": "/work"}}
        return self.send("POST", "/api/agents/approvals", body | members, key=key or secrets.token_hex(16))

    def poll(self, asked):
        return self.send("GET", "/api/agents/approvals/" + asked["auth_req_id"])

    def cancel(self, asked):
        return self.send("POST", f"/api/agents/approvals/{asked['auth_req_id']}/cancel")

    def wait(self, asked):
        """Polls as often as it may until somebody has decided."""
        while (answer := self.poll(asked).json())["status"] == "pending":
            time.sleep(asked["interval"])
        return answer


def send(request):
    """Sends a prepared request as it is."""
    with requests.Session() as session:
        return session.send(request, timeout=10)


class Approver:
    """The app in which the user decides."""

    PATH = "/api/v1/me/agent_approvals"

    def __init__(self, phone):
        self.phone = phone

    def get(self, path=""):
        answer = requests.get(provider.URL + self.PATH + path, headers=self.phone.headers)
        answer.raise_for_status()
        return answer.json()

    def decide(self, asked, decision, **members):
        return requests.post(
            f"{provider.URL}{self.PATH}/{asked['auth_req_id']}/decide", headers=self.phone.headers,
            json={"decision": decision, **members})


def payload_hash(shown):
    """What the phone computes from what it shows."""
    names = ("action_type", "agent_name", "agent_type", "body", "context", "title")
    return hashlib.sha256(canonical_json({name: shown[name] for name in names})).hexdigest()
