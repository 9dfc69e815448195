"""Three machines of MariaDB that replicate with Galera, run with what packaging/cluster has for operators."""

import configparser
import contextlib
import os
import pathlib
import re
import signal
from collections.abc import Callable, Iterable

from database import SCRIPTS
from hosts import RUN, Host
from instance import DrillError, run, wait_until

SHIPPED = SCRIPTS.parent / "packaging" / "cluster"
CHECK_PORT = 9200
QUOTES = "\"'"
# Galera's servers must not be root's: rsync would serve their files as nobody.
USER = ["setpriv", "--reuid=daemon", "--regid=daemon", "--clear-groups"]


def shipped_options() -> list[str]:
    settings = configparser.ConfigParser(interpolation=None)
    settings.read(SHIPPED / "galera.cnf")
    return [f"--{name.replace('_', '-')}={value.strip(QUOTES)}" for name, value in settings["mariadbd"].items()]


class Node:
    """One of them."""

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self.host = Host(name, address)
        self.folder = self.host.folder
        self.data = self.folder / "data"
        self.socket = self.folder / "mariadb.sock"
        os.chown(self.folder, 1, 1)
        # Whatever overrides the shipped options.
        self.options: list[str] = []
        self.host.launch("check", [
            "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "systemd-socket-activate", "--accept",
            "--inetd", f"--listen={address}:{CHECK_PORT}", str(SHIPPED / "merganser-galera-check"), str(self.socket)])

    # --- Its process

    def start(self, is_first: bool = False) -> None:
        """is_first: it makes the cluster, instead of joining it. Returns at once."""
        if not is_first:
            run([*USER, "mkdir", "-p", str(self.data)])
        options = [*self._options(), *(["--wsrep-new-cluster"] if is_first else [])]
        if position := self._position():
            options.append(f"--wsrep-start-position={position}")
        self.host.launch("mariadb", [*self._command(), *options], self._environment())

    def join(self, seconds: float = 90) -> None:
        """Starts it, and returns when it has what the others have."""
        self.start()
        self.wait_until_synced(seconds)

    def wait_until_synced(self, seconds: float = 90) -> None:
        def is_synced() -> bool:
            if not self.host.runs("mariadb"):
                raise DrillError(f"{self.name} ended; its log ends with:\n" + self.host.log("mariadb")[-3000:])
            return self.is_synced()

        wait_until(is_synced, seconds, f"{self.name} is synced")

    def kill(self) -> None:
        self.host.end("mariadb", signal.SIGKILL, 10)

    def stop(self) -> None:
        self.host.end("mariadb")

    def forget(self) -> None:
        """It loses its data, and has to copy another machine's."""
        run(["rm", "-rf", str(self.data)])

    def _command(self) -> list[str]:
        return [*USER, str(SCRIPTS / "mariadbd"), str(self.data), str(self.socket)]

    def _options(self) -> list[str]:
        return [*shipped_options(), "--skip-networking=OFF", "--innodb-buffer-pool-size=64M",
                f"--bind-address={self.host.address}", f"--wsrep-node-address={self.host.address}",
                f"--wsrep-node-name={self.name}", *self.options]

    def _environment(self) -> dict[str, str]:
        transfer = RUN / "state-transfer/usr/bin"
        return os.environ | {"PATH": f"{transfer}:{os.environ['PATH']}:/usr/sbin:/sbin", "HOME": str(self.folder)}

    def _position(self) -> str | None:
        """What a killed server had committed last; with it, the others send only what came afterwards."""
        state = self.data / "grastate.dat"
        if not state.exists() or not re.search(r"^seqno:\s*-1$", state.read_text(), re.M):
            return None
        self.host.launch("recovery", [*self._command(), *self._options(), "--wsrep-recover"], self._environment())
        wait_until(lambda: not self.host.runs("recovery"), 60, f"{self.name} finds its position")
        positions = re.findall(r"Recovered position:? (\S+:\d+)", self.host.log("recovery"))
        return positions[-1] if positions else None

    # --- Its state

    def sql(self, text: str) -> list[tuple[str, ...]]:
        """Runs statements as the administrator, here; the rows that come back, as text."""
        output = run(["mariadb", "--no-defaults", f"--socket={self.socket}", "--user=root", "--connect-timeout=5",
                      "--default-character-set=utf8mb4", "--batch", "--skip-column-names", "--execute", text])
        return [tuple(line.split("\t")) for line in output.splitlines()]

    def status(self, *names: str) -> list[str]:
        quoted = ", ".join(f"'wsrep_{name}'" for name in names)
        rows = dict(self.sql(f"SHOW GLOBAL STATUS WHERE Variable_name IN ({quoted})"))
        return [rows[f"wsrep_{name}"] for name in names]

    def has_caught_up(self) -> bool:
        """Whether it has applied what was committed before this call; not if that takes longer than a server waits."""
        try:
            self.sql("SET SESSION wsrep_sync_wait = 15; SELECT COUNT(*) FROM mysql.user")
        except DrillError as error:
            if "ERROR 1205" not in str(error):
                raise
            return False
        return True

    def answers(self) -> bool:
        try:
            return self.sql("SELECT 1") == [("1",)]
        except DrillError:
            return False

    def is_synced(self) -> bool:
        try:
            return self.status("ready", "local_state") == ["ON", "4"]
        except (DrillError, KeyError):
            return False

    def is_written(self) -> bool:
        """Whether it acknowledges a write of a row, within some seconds."""
        try:
            self.sql("SET SESSION max_statement_time = 5; REPLACE INTO drill.probe VALUES (1, UUID())")
            return True
        except DrillError:
            return False

    def set_provider(self, option: str) -> None:
        self.sql(f"SET GLOBAL wsrep_provider_options = '{option}'")


class Cluster:
    """The first machine that is synced is the one that is written to, as HAProxy has it."""

    def __init__(self) -> None:
        self.nodes = [Node(f"db{number}", f"192.0.2.{10 + number}") for number in (1, 2, 3)]

    def make(self, owner_password: str, server_password: str, migrate: Callable[[pathlib.Path], None]) -> None:
        """Starts all of them, with the accounts, and the tables that migrate makes through a socket."""
        first, *others = self.nodes
        accounts = "".join(
            f"""
            CREATE USER merganser_owner@'{host}' IDENTIFIED BY '{owner_password}';
            GRANT ALL PRIVILEGES ON merganser.* TO merganser_owner@'{host}';
            CREATE USER merganser@'{host}' IDENTIFIED BY '{server_password}';
            GRANT SELECT, INSERT, UPDATE, DELETE ON merganser.* TO merganser@'{host}';
            """ for host in ("localhost", "192.0.2.%"))
        first.start(is_first=True)
        first.wait_until_synced()
        for node in others:
            node.start()
        for node in others:
            node.wait_until_synced()
        # In drill.probe, scenarios try to write.
        first.sql(f"""
            CREATE DATABASE merganser CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
            {accounts}
            CREATE USER nobody@localhost IDENTIFIED VIA unix_socket;
            CREATE DATABASE drill;
            CREATE TABLE drill.probe (id INT PRIMARY KEY, text TEXT) ENGINE = InnoDB
            """)
        migrate(first.socket)

    @property
    def writer(self) -> Node:
        for node in self.nodes:
            if node.is_synced():
                return node
        raise DrillError("no database machine is synced")

    def sql(self, text: str) -> list[tuple[str, ...]]:
        """At the writer, once it has all that the cluster has committed."""
        return self.writer.sql(f"USE merganser; SET SESSION wsrep_sync_wait = 15; {text}")

    def wait_until_synced(self, seconds: float = 90) -> None:
        for node in self.nodes:
            node.wait_until_synced(seconds)

    def settle(self, nodes: Iterable[Node] | None = None) -> None:
        """Until all have applied what was committed before this call."""
        for node in nodes or self.nodes:
            wait_until(node.has_caught_up, 90, f"{node.name} applies what was committed")

    def differences(self) -> list[str]:
        """The tables whose rows are not the same on all machines, when nothing is written any more."""
        self.settle()
        tables = [name for (name,) in self.writer.sql(
            "SELECT TABLE_NAME FROM information_schema.TABLES"
            " WHERE TABLE_SCHEMA = 'merganser' AND TABLE_TYPE = 'BASE TABLE'")]
        every = ", ".join(f"merganser.{name}" for name in tables)
        sums = [dict(node.sql(f"SET SESSION wsrep_sync_wait = 15; CHECKSUM TABLE {every}")) for node in self.nodes]
        return [name for name in sums[0] if len({found[name] for found in sums}) > 1]

    def counters(self) -> dict[str, tuple[int, int]]:
        """Of each machine, the transactions that lost against another machine's: at their certification, and before."""
        found = {}
        for node in self.nodes:
            with contextlib.suppress(DrillError, KeyError):
                failures, aborts = node.status("local_cert_failures", "local_bf_aborts")
                found[node.name] = (int(failures), int(aborts))
        return found
