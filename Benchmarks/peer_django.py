"""The second peer: Django OAuth Toolkit, a provider that a team adds to its own Django site, on the same MariaDB server and
behind the same nginx. Debian has it.

It has the set-up that suits it best, and gets the same requests as Merganser:

- gunicorn has as many processes as its documentation advises, twice the processors and one. Each has a few threads, because with
  them it keeps nginx's connections, and a connection to the database for each.
- Its access tokens are random and not signed: each is looked up. They are revoked by a refresh, and so is the refresh token.
- It stores the client's secret in plain text, which saves it a digest.
- Tokens are made through its models, because this makes no difference to the paths that are measured.
"""

import json
import os
import pathlib
import secrets
import subprocess
from urllib.parse import urlencode

import peer
from scene import Request, parallel, sql
from sides import HERE, WORK, Side, free_port, settings, start_nginx, until
from workloads import FORM, PEOPLE, get

FOLDER = WORK / "peer-django"
THREADS = 4
# Makes people and tokens, and prints the tokens.
MAKE = """
import json, sys
from datetime import timedelta
from django.contrib.auth.models import User
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, RefreshToken
from oauthlib.common import generate_token
application, _ = Application.objects.get_or_create(
    client_id={client!r}, client_secret={secret!r}, client_type="confidential", authorization_grant_type="authorization-code",
    redirect_uris="https://example.com/callback", algorithm="RS256", name="Bench")
people = [User.objects.get_or_create(
    username=f"person{{n}}", first_name=f"Person {{n}}", email=f"person{{n}}@example.com")[0] for n in range({people})]
made = []
for number in range({count}):
    user = people[number % len(people)]
    access = AccessToken.objects.create(
        user=user, application=application, token=generate_token(), scope="openid profile",
        expires=timezone.now() + timedelta(hours=10))
    refresh = RefreshToken.objects.create(
        user=user, application=application, token=generate_token(), access_token=access)
    made.append([access.token, refresh.token])
print(json.dumps(made))
"""


class DjangoPeer:
    """Django OAuth Toolkit with people and one application."""

    WORKLOADS = peer.Peer.WORKLOADS

    def __init__(self, sockets: pathlib.Path) -> None:
        packages = ("python3-django-oauth-toolkit", "python3-mysqldb", "gunicorn")
        subprocess.run([HERE.parent / "scripts/packages", *packages], check=True)
        (FOLDER / "logs").mkdir(parents=True, exist_ok=True)
        password, key = secrets.token_hex(16), subprocess.run(
            ["openssl", "genrsa", "2048"], check=True, capture_output=True, text=True
        )
        sql(f"""
            -- An earlier run may have left tables.
            SET foreign_key_checks = 0;
            CREATE OR REPLACE DATABASE django_peer CHARACTER SET utf8mb4;
            CREATE OR REPLACE USER django_peer@localhost IDENTIFIED BY '{password}';
            GRANT ALL PRIVILEGES ON django_peer.* TO django_peer@localhost;""")
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "site_settings",
            "PYTHONPATH": str(HERE / "peer"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PEER_PASSWORD": password,
            "PEER_KEY": key.stdout,
            "PEER_DATABASE_SOCKET": settings()["MERGANSER_DATABASE_SOCKET"],
        }
        self.run("migrate", "--verbosity", "0")
        self.credentials = {"client": "bench", "secret": secrets.token_hex(16)}
        socket = sockets / "peer-django.sock"
        processes = 2 * (os.cpu_count() or 1) + 1
        command = f"gunicorn --workers {processes} --threads {THREADS} --keep-alive 65 --log-level warning --bind unix:{socket}"
        with open(FOLDER / "logs/responder.log", "ab") as log:
            responder = subprocess.Popen(
                [*command.split(), "django.core.wsgi:get_wsgi_application()"],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        port = free_port()
        nginx = start_nginx("peer-django", FOLDER, port, sockets, over_http)
        self.side = Side("peer-django", f"127.0.0.1:{port}", nginx, [responder])
        try:
            tokens = self.tokens(1)
            ask = get("/o/userinfo/", tokens[0][0])
            until(lambda: self.answers(ask), f"Django does not answer; {FOLDER}/logs says more; it should")
            # Each process loads its code with its first requests.
            for workload in ("refresh-oauth", *("userinfo",) * 4):
                parallel(lambda request: peer.ask(self.side.address, request), self.requests(workload, PEOPLE))
        except BaseException:
            self.side.stop()
            raise

    def answers(self, request: Request) -> bool:
        try:
            return "email" in json.loads(peer.ask(self.side.address, request)[1])
        except (OSError, SystemExit):
            return False

    def run(self, *arguments: str) -> str:
        command = ["/usr/bin/python3", "-m", "django", *arguments]
        return subprocess.run(command, env=self.environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    def tokens(self, count: int) -> list[tuple[str, str]]:
        """Access and refresh tokens."""
        made = self.run("shell", "-c", MAKE.format(**self.credentials, people=PEOPLE, count=count))
        return json.loads(made)

    def requests(self, workload: str, count: int) -> list[Request]:
        match workload:
            case "refresh-oauth":
                return [
                    self.form("/o/token/", grant_type="refresh_token", refresh_token=refresh)
                    for _, refresh in self.tokens(count)
                ]
            case "userinfo":
                return [get("/o/userinfo/", access) for access, _ in self.tokens(PEOPLE)]
            case "introspection":
                return [self.form("/o/introspect/", token=access) for access, _ in self.tokens(PEOPLE)]
        raise ValueError(workload)

    def form(self, path: str, **fields: str) -> Request:
        """A POST of the application."""
        headers = {**FORM, "Authorization": peer.basic(self.credentials["client"], self.credentials["secret"])}
        return Request("POST", path, headers, urlencode(fields).encode())


def over_http(text: str) -> str:
    """Merganser's nginx.conf, for processes that speak HTTP on the same socket."""
    text = text.replace("include merganser/server.conf;", f"include {HERE}/peer/server.conf;")
    return text.replace("include merganser/control.conf;", "")
