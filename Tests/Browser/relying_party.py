"""An application of its own: registered, with a redirect URI that listens, on an origin other than the server's."""

import base64
import hashlib
import http.server
import json
import os
import secrets
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request

URL = os.environ["MERGANSER_URL"]


def post(path, **fields):
    """Posts a form; the status and the members of the answer."""
    request = urllib.request.Request(URL + path, urllib.parse.urlencode(fields).encode())
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


class RelyingParty:
    def __init__(self, name="Acme Photos", scopes=("openid", "profile:basic", "email")):
        self.name = name
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        self.redirect_uri = self.origin + "/callback"
        created = subprocess.run(
            [os.environ["MERGANSERCTL"], "application", "create", "--name", name, "--client-type", "public"]
            + ["--redirect-uri", self.redirect_uri, "--scope", *scopes, "--json"],
            check=True, capture_output=True,
        )
        self.client_id = json.loads(created.stdout)["client_id"]

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def authorize_url(self, **parameters):
        """A fresh request. None takes a parameter away."""
        self.verifier = secrets.token_urlsafe(32)
        self.state = secrets.token_urlsafe(8)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()
        fields = {
            "response_type": "code", "client_id": self.client_id, "redirect_uri": self.redirect_uri,
            "scope": "openid profile:basic email", "state": self.state,
            "code_challenge": challenge, "code_challenge_method": "S256", **parameters,
        }
        query = urllib.parse.urlencode({name: value for name, value in fields.items() if value is not None})
        return f"{URL}/oauth/authorize?{query}"

    def answer(self, url):
        """What the redirect that led to this URL told the application."""
        assert url.startswith(self.redirect_uri + "?"), url
        return dict(urllib.parse.parse_qsl(url.partition("?")[2], strict_parsing=True))

    def redeem(self, code):
        """The claims of the id_token that a code is worth."""
        status, tokens = post(
            "/oauth/token", grant_type="authorization_code", code=code, redirect_uri=self.redirect_uri,
            client_id=self.client_id, code_verifier=self.verifier,
        )
        assert status == 200, tokens
        payload = tokens["id_token"].split(".")[1]
        return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>Acme Photos</title><h1>Back in the application</h1>")

    def log_message(self, *arguments):
        pass
