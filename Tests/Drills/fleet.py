"""All machines together: three of databases, and two that serve, each with nginx, merganserd and HAProxy."""

import json
import os
import pathlib
import secrets
import shutil
import signal
import socket

from crowd import RACES, Crowd
from database import SCRIPTS
from galera import SHIPPED, Cluster
from hosts import Host
from instance import Instance, run, wait_until

PORT = 8080


class AppMachine(Instance):
    """A machine that serves, and its installation."""

    def __init__(self, host: Host) -> None:
        self.host = host
        # The order in which HAProxy takes the database machines.
        self.order = ("db1", "db2", "db3")
        self.start_proxy()
        self.bring_up()
        super().__init__(
            environment=os.environ | read_variables(host.folder / "env") | {"MERGANSER_RUN": str(host.folder)})

    @property
    def addresses(self) -> list[tuple[str, int]]:
        return [(self.host.address, PORT)]

    def bring_up(self) -> None:
        debug = ["--debug"] if os.environ["DRILL_PROGRAMS"].endswith("debug") else []
        with self.host.inside():
            run([str(SCRIPTS / "instance"), *debug, "machine", str(self.host.folder)])

    def start_proxy(self) -> None:
        """HAProxy as it is shipped, but for its own socket and the order of the servers."""
        lines = (SHIPPED / "haproxy.cfg").read_text().replace("/run/haproxy", str(self.host.folder)).splitlines()
        servers = {line.split()[1]: line.split()[2] for line in lines if line.split()[:1] == ["server"]}
        primary, *_ = [line for line in lines if line.split()[:1] == ["server"]]
        options = primary.split(maxsplit=3)[3]
        lines = [line for line in lines if line.split()[:1] != ["server"]]
        for number, name in enumerate(self.order):
            lines.append(f"    server {name} {servers[name]} {'backup' if number else options}")
        file = self.host.folder / "haproxy.cfg"
        file.write_text("\n".join(lines) + "\n")
        self.host.launch("haproxy", ["haproxy", "-db", "-f", str(file)])
        wait_until(lambda: self.database() == self.order[0], 15, f"{self.host.name} reaches {self.order[0]}")

    def restart_proxy(self, number: signal.Signals = signal.SIGTERM) -> None:
        self.host.end("haproxy", number, 40)
        self.start_proxy()

    def database(self) -> str | None:
        """Where HAProxy sends connections now: the first one that is up."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(self.host.folder / "admin.sock"))
                connection.sendall(b"show stat\n")
                text = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        except OSError:
            return None
        rows = [line.split(",") for line in text.splitlines() if line.startswith("merganser_database,db")]
        # Of a server that has not been checked yet, check_status (field 37) is empty or INI.
        states = {row[1]: row[17].startswith("UP") and row[36] not in ("", "INI") for row in rows}
        return next((name for name in self.order if states.get(name)), None)

    # What Instance does on this machine, it does in its network.

    def launch(self, *arguments, **options) -> None:
        with self.host.inside():
            super().launch(*arguments, **options)

    def ready(self, color: str) -> bool:
        with self.host.inside():
            return super().ready(color)

    def migrate(self, folder: pathlib.Path) -> None:
        with self.host.inside():
            super().migrate(folder)

    def merganserctl(self, *arguments: str) -> str:
        with self.host.inside():
            return super().merganserctl(*arguments)


class Fleet:
    """To a load, and to a ledger, an instance like any other."""

    def __init__(self) -> None:
        self.cluster = Cluster()
        first, second = (Host(f"app{number}", f"192.0.2.{20 + number}") for number in (1, 2))
        # scripts/instance makes what is missing of these.
        (first.folder / "secrets").mkdir(mode=0o700)
        made = {name: secrets.token_hex(32) for name in ("server_key", "owner_password", "database_password")}
        for name, secret in made.items():
            file = first.folder / "secrets" / name
            file.touch(mode=0o600)
            file.write_text(secret + "\n")
        self.cluster.make(
            made["owner_password"], made["database_password"], lambda socket: migrate(socket, first.folder))
        machine = AppMachine(first)
        # Both are one installation.
        for folder in ("secrets", "keys"):
            shutil.copytree(first.folder / folder, second.folder / folder)
        self.machines = [machine, AppMachine(second)]
        os.environ.update(machine.environment)
        self.settings = machine.settings
        self.applications = [self._application(number) for number in range(2)]
        # All of the drill; who is to be merged next is anybody of it.
        self.crowd = Crowd(self, self.applications, RACES, halves=True)
        self.refused: set[int] = set()

    def _application(self, number: int) -> int:
        """A relying party that is told of merges, but polls no events."""
        return json.loads(self.merganserctl(
            "application", "create", "--name", f"Drill {number}", "--client-type", "confidential", "--redirect-uri",
            "com.example.drill://callback", "--json"))["id"]

    @property
    def url(self) -> str:
        return self.machines[0].url

    @property
    def addresses(self) -> list[tuple[str, int]]:
        return [address for machine in self.machines for address in machine.addresses]

    def merganserctl(self, *arguments: str) -> str:
        return self.machines[0].merganserctl(*arguments)

    def sql(self, text: str) -> list[tuple[str, ...]]:
        return self.cluster.sql(text)

    def remove(self) -> None:
        """So that another one can be made."""
        for host in (*(machine.host for machine in self.machines), *(node.host for node in self.cluster.nodes)):
            host.remove()

    def wait_until_whole(self) -> None:
        """Until all machines of the cluster are synced, and all app machines write to their first one."""
        self.cluster.wait_until_synced()
        for machine in self.machines:
            primary = machine.order[0]
            # HAProxy returns to it after 15 s of good checks, and one that is not begins them anew.
            wait_until(lambda: machine.database() == primary, 90, f"{machine.host.name} writes to {primary}")


def migrate(database: pathlib.Path, installation: pathlib.Path) -> None:
    """As the owner of the tables, through a socket."""
    run([str(pathlib.Path(os.environ["DRILL_PROGRAMS"]) / "merganserctl"), "migrate", "up"], {
        "MERGANSER_ENVIRONMENT": "development", "MERGANSER_ISSUER": f"http://127.0.0.1:{PORT}",
        "MERGANSER_SERVER_KEY_FILE": str(installation / "secrets" / "server_key"),
        "MERGANSER_DATABASE_SOCKET": str(database), "MERGANSER_DATABASE_USER": "merganser_owner",
        "MERGANSER_DATABASE_PASSWORD_FILE": str(installation / "secrets" / "owner_password"),
        "MERGANSER_SQL_DIRECTORY": str(SCRIPTS.parent / "sql"), "PATH": os.environ["PATH"]})


def read_variables(file: pathlib.Path) -> dict[str, str]:
    """Those that a shell script exports."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MERGANSER")}
    output = run(["/bin/sh", "-c", '. "$0" && env -0', str(file)], environment)
    pairs = dict(pair.split("=", 1) for pair in output.split("\0") if pair)
    return {name: value for name, value in pairs.items() if name.startswith("MERGANSER")}
