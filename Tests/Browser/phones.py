"""Phones with the server's own app, which call the API for a person."""

import json
import os
import secrets
import subprocess
import urllib.error
import urllib.request
import uuid

URL = os.environ["MERGANSER_URL"]


def merganserctl(*arguments):
    """Runs the operator's tool and returns what it printed."""
    command = [os.environ["MERGANSERCTL"], *arguments, "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def identity(provider, subject, email):
    """What a phone sends of an identity that its owner proved to the provider."""
    nonce = secrets.token_hex(8)
    command = [os.environ["MERGANSERCTL"], "dev", "token", "--provider", provider, "--subject", subject]
    command += ["--nonce", nonce, "--email", email, "--email-verified", "true"]
    token = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return {"provider": provider, "identity_token": token, "raw_nonce": nonce}


def call(method, path, token=None, body=None, expect=(200, 201), **headers):
    """The members of the answer."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, {"Content-Type": "application/json", **headers}, method=method)
    try:
        answer = urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        members = json.load(answer)
    assert answer.status in expect, members
    return members


class Phone:
    def __init__(self, platform="ios"):
        """Starts for the first time: an anonymous account."""
        self.uuid, self.platform = str(uuid.uuid4()).upper(), platform
        self.device = {"device_uuid": self.uuid, "platform": platform}
        self.accept(call("POST", "/api/v1/devices", body=self.device))

    def accept(self, members):
        self.token, self.user = members["access_token"], members["user"]["id"]

    def sign_in(self, provider, subject, email):
        """Into the account of the identity, or a new one; what the phone had before stays behind."""
        body = {**identity(provider, subject, email), **self.device, "device_uuid": str(uuid.uuid4()).upper()}
        self.accept(call("POST", f"/api/v1/auth/{provider}/session", body=body))

    def swap(self, provider, subject, email):
        """What the phone had goes into the account of the identity."""
        proof = identity(provider, subject, email)
        refused = call("POST", "/api/v1/me/connected_identities", self.token, proof, expect=(409,))
        body = {"provider": provider, "swap_ticket": refused["swap_ticket"], **self.device}
        self.accept(call("POST", "/api/v1/me/anonymous_swap", self.token, body))

    def merge(self, other):
        """The account of another phone goes into this one's."""
        proof = call("POST", "/api/v1/me/merge/session-token", other.token, {})["session_token"]
        key = secrets.token_hex(8)
        call("POST", "/api/v1/me/merge", self.token, {"target_session_token": proof}, Idempotency_Key=key)

    def agent(self, name, kind="claude"):
        """The token of a new agent."""
        body = {"name": name, "type": kind, "auth_mode": "bearer_only"}
        return call("POST", "/api/v1/me/agents", self.token, body)["token"]

    @staticmethod
    def ask(agent, action, title, body):
        """An agent asks for approval."""
        request = {"action_type": action, "title": title, "body": body, "context": {}, "ttl_seconds": 1800}
        return call("POST", "/api/agents/approvals", agent, request, Idempotency_Key=secrets.token_hex(8))
