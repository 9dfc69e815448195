"""The peer: glewlwyd, an OpenID provider in C that Debian has, on the same MariaDB server and behind the same nginx.

It has the set-up that suits it best, and gets the same requests as Merganser:

- A process has one connection to the database, which its threads share; no setting changes that. If it gets several
  requests for tokens at a time, some fail, because the id of the row that it has just inserted is then another thread's
  or missing. So there are as many processes as clients that request tokens, and nginx gives each process one such
  request at a time. READERS of the processes share the other requests, with a thread for each connection from nginx.
- It reaches the database over its socket. It logs warnings, but not every token.
- It signs access tokens with RS256 and 2048 bits. They live as long as Merganser's, and a refresh token works once.
  A refresh makes no ID token here, so Merganser is not asked for one either.
- It stores the client's secret in plain text, which saves it a digest.
- Users get tokens with their passwords (RFC 6749, section 4.3), because this makes no difference to the paths that are
  measured. A public client gets no tokens for a password, so the client is confidential.

The package is unpacked, not installed, because its scripts would register a service. The libraries that it needs are
installed.
"""

import base64
import gzip
import http.client
import json
import os
import pathlib
import re
import secrets
import subprocess
from collections.abc import Mapping
from urllib.parse import urlencode

from scene import Request, parallel, post, sql
from sides import HERE, WORK, Side, answers, free_port, settings, start_nginx, until
from workloads import FORM, PEOPLE, get

# The most connections that request tokens at a time.
PROCESSES = 16
READERS = 4
FOLDER = WORK / "peer"
PACKAGE = FOLDER / "package"
# As the package creates it.
ADMINISTRATOR = {"username": "admin", "password": "password"}
CLIENT, SECRET, PASSWORD = "bench", secrets.token_hex(16), secrets.token_hex(16)


def basic(client: str, secret: str) -> str:
    """The value of Authorization with which a client authenticates."""
    return "Basic " + base64.b64encode(f"{client}:{secret}".encode()).decode()


BASIC = {**FORM, "Authorization": basic(CLIENT, SECRET)}


class Peer:
    """glewlwyd with people and one application."""

    # The workloads that can be compared, by Merganser's names.
    WORKLOADS = ("refresh-oauth", "userinfo", "introspection")

    def __init__(self, sockets: pathlib.Path) -> None:
        unpack()
        create_database()
        ports: set[int] = set()
        while len(ports) <= PROCESSES:
            ports.add(free_port())
        front, *backs = ports
        nginx = start_nginx("peer", FOLDER, front, sockets, lambda text: over_http(text, backs))
        self.side = Side("peer", f"127.0.0.1:{front}", nginx, [])
        try:
            for port in backs:
                self.side.responders.append(launch(port))
                until(
                    lambda: answers(f"http://127.0.0.1:{port}/config/"),
                    f"glewlwyd does not answer; {FOLDER}/logs says more; it should",
                )
                # The others read the settings of the first one when they start.
                if port == backs[0]:
                    configure(f"127.0.0.1:{port}")
            until(lambda: answers(self.side.url + "/config/"), "nginx of the peer does not answer; it should")
        except BaseException:
            self.side.stop()
            raise

    def requests(self, workload: str, count: int) -> list[Request]:
        match workload:
            case "refresh-oauth":
                tokens = parallel(self.signed_in, range(count))
                return [
                    form("/api/oidc/token", {"grant_type": "refresh_token", "refresh_token": each["refresh_token"]})
                    for each in tokens
                ]
            case "userinfo":
                tokens = parallel(self.signed_in, range(PEOPLE))
                return [get("/api/oidc/userinfo", each["access_token"]) for each in tokens]
            case "introspection":
                tokens = parallel(self.signed_in, range(PEOPLE))
                return [form("/api/oidc/introspect", {"token": each["access_token"]}) for each in tokens]
        raise ValueError(workload)

    def signed_in(self, number: int) -> dict[str, str]:
        """The tokens of a person."""
        name = f"person{number % PEOPLE}"
        _, body = ask(
            self.side.address,
            form(
                "/api/oidc/token",
                {"grant_type": "password", "username": name, "password": PASSWORD, "scope": "openid profile"},
            ),
        )
        return json.loads(body)


def form(path: str, fields: Mapping[str, str]) -> Request:
    """A POST of the application."""
    return Request("POST", path, BASIC, urlencode(fields).encode())


def ask(address: str, request: Request) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request(request.method, request.path, request.body or None, request.headers)
        response = connection.getresponse()
        body = response.read()
    finally:
        connection.close()
    if response.status != 200:
        raise SystemExit(f"error: the peer answers {request.path} with {response.status}: {body[:300]!r}")
    return response, body


def unpack() -> None:
    """Debian's package, and installs what it is linked with."""
    for folder in (PACKAGE, FOLDER / "logs"):
        folder.mkdir(parents=True, exist_ok=True)
    # If apt runs as root, it switches to another user, who may not write the folder.
    subprocess.run(["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", "glewlwyd"], cwd=FOLDER, check=True)
    archive = next(FOLDER.glob("glewlwyd_*.deb"))
    depends = subprocess.run(
        ["dpkg-deb", "-f", archive, "Depends"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    subprocess.run([HERE.parent / "scripts/packages", *re.findall(r"\blib[\w.+-]+", depends)], check=True)
    subprocess.run(["dpkg-deb", "-x", archive, PACKAGE], check=True)


def create_database() -> None:
    schema = gzip.decompress((PACKAGE / "usr/share/doc/glewlwyd/database/init.mariadb.sql.gz").read_bytes()).decode()
    sql(f"""
        -- An earlier run may have left tables.
        SET foreign_key_checks = 0;
        CREATE OR REPLACE DATABASE glewlwyd CHARACTER SET utf8mb4;
        SET foreign_key_checks = 1;
        CREATE OR REPLACE USER glewlwyd@localhost IDENTIFIED BY '{PASSWORD}';
        GRANT ALL PRIVILEGES ON glewlwyd.* TO glewlwyd@localhost;
        USE glewlwyd;
        {schema}""")


def launch(port: int) -> subprocess.Popen:
    """One process of it."""
    text = (HERE / "peer/glewlwyd.conf").read_text()
    for name, value in {"PORT": port, "FOLDER": FOLDER, "PACKAGE": PACKAGE, "PASSWORD": PASSWORD}.items():
        text = text.replace(f"@{name}@", str(value))
    configuration = FOLDER / f"glewlwyd-{port}.conf"
    configuration.write_text(text)
    # There is no setting for the socket; libmariadb has this one.
    environment = {**os.environ, "MYSQL_UNIX_PORT": settings()["MERGANSER_DATABASE_SOCKET"]}
    with open(FOLDER / "logs/responder.log", "ab") as log:
        return subprocess.Popen(
            [PACKAGE / "usr/bin/glewlwyd", "-c", configuration],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def configure(address: str) -> None:
    """The provider, its application and its people, through its API."""
    key = subprocess.run(["openssl", "genrsa", "2048"], check=True, capture_output=True, text=True).stdout
    public = subprocess.run(["openssl", "rsa", "-pubout"], input=key, check=True, capture_output=True, text=True).stdout
    response, _ = ask(address, post("/api/auth/", ADMINISTRATOR))
    session = response.headers["Set-Cookie"].split(";")[0]

    def create(what: str, body: Mapping[str, object]) -> None:
        ask(address, post(f"/api/{what}/", body, Cookie=session))

    create(
        "mod/plugin",
        {
            "module": "oidc",
            "name": "oidc",
            "display_name": "OpenID Connect",
            "parameters": {
                "iss": f"http://{address}/api/oidc",
                "jwt-type": "rsa",
                "jwt-key-size": "256",
                "key": key,
                "cert": public,
                "access-token-duration": 900,
                "refresh-token-duration": 30 * 86_400,
                "code-duration": 600,
                "refresh-token-rolling": False,
                "refresh-token-one-use": "always",
                "allow-non-oidc": True,
                "auth-type-code-enabled": True,
                "auth-type-password-enabled": True,
                "auth-type-client-enabled": True,
                "auth-type-refresh-enabled": True,
                "auth-type-token-enabled": False,
                "auth-type-none-enabled": False,
                "introspection-revocation-allowed": True,
                "introspection-revocation-allow-target-client": True,
                "subject-type": "public",
                "name-claim": "mandatory",
                "email-claim": "mandatory",
                "scope-claim": "no",
            },
        },
    )
    create("scope", {"name": "profile", "display_name": "Profile", "password_required": False, "scheme": {}})
    create(
        "client",
        {
            "client_id": CLIENT,
            "client_secret": SECRET,
            "confidential": True,
            "enabled": True,
            "authorization_type": ["password", "refresh_token", "client_credentials"],
            "token_endpoint_auth_method": ["client_secret_basic"],
        },
    )
    for number in range(PEOPLE):
        create(
            "user",
            {
                "username": f"person{number}",
                "password": PASSWORD,
                "name": f"Person {number}",
                "email": f"person{number}@example.com",
                "enabled": True,
                "scope": ["openid", "profile"],
            },
        )


def over_http(text: str, ports: list[int]) -> str:
    """Merganser's nginx.conf, for processes that speak HTTP on these ports."""

    def servers(count: int, options: str = "") -> str:
        return "\n".join(f"        server 127.0.0.1:{port} max_fails=0{options};" for port in ports[:count])

    tokens = f"""
    upstream tokens {{
        # A zone, so that the nginx workers count together.
        zone tokens 64k;
        least_conn;
{servers(PROCESSES, " max_conns=1")}
        include merganser/keepalive.conf;
    }}
    upstream merganser {{"""
    text = text.replace("    upstream merganser {", tokens)
    text = re.sub(r" *server unix:\S+/peer\.sock .*;", servers(READERS), text)
    location = "location = /api/oidc/token { proxy_pass http://tokens; }"
    text = text.replace("include merganser/server.conf;", f"include {HERE}/peer/server.conf; {location}")
    return text.replace("include merganser/control.conf;", "")
