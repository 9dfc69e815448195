"""The instance that a drill uses, made by `scripts/instance beside`: its processes, its nginx, its database."""

import http.client
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping

COLORS = ("blue", "green")


class DrillError(Exception):
    """The drill itself cannot continue. This says nothing about the guarantee."""


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise DrillError(f"{what}: not within {seconds:g} s")
        time.sleep(0.02)


def start_time(pid: int) -> str | None:
    """When a process started, in ticks since boot (proc(5), field 22); None once it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


class Instance:
    """nginx, MariaDB, and merganserd in one of two colors, or in both while one replaces the other."""

    def __init__(self, settings: Mapping[str, str] | None = None, environment: Mapping[str, str] = os.environ) -> None:
        """settings: variables for the servers that are started from here, besides the installation's own.

        environment: the variables of .run/env, and MERGANSER_RUN.
        """
        self.environment = environment
        self.url = environment["MERGANSER_URL"]
        self.run = pathlib.Path(environment["MERGANSER_RUN"])
        # What servers inherit instead of listening themselves.
        self.listener: socket.socket | None = None
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._releases = 0
        # Whatever runs now is what scripts/instance has just built.
        self._built = pathlib.Path(os.readlink(f"/proc/{self.pid(server(self.serving()))}/exe"))
        # What every program of the installation is given.
        self.settings = self._read_settings() | dict(settings or {})

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.url.removeprefix("http://").partition(":")
        return host, int(port)

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Where clients can choose to connect."""
        return [self.address]

    @property
    def socket_path(self) -> str:
        """Where nginx connects to."""
        return self.settings["MERGANSER_SOCKET"]

    # --- Processes

    def pid(self, name: str) -> int | None:
        """The process that goes by this name in pids/, if it still runs."""
        try:
            pid, start = (self.run / "pids" / name).read_text().split()
        except (OSError, ValueError):
            return None
        return int(pid) if start_time(int(pid)) == start else None

    def kill(self, name: str, number: signal.Signals) -> None:
        pid = self.pid(name)
        if pid is None:
            raise DrillError(f"{name} is not running")
        os.kill(pid, number)

    def wait_for_end(self, name: str, seconds: float) -> None:
        wait_until(lambda: self.pid(name) is None, seconds, f"the end of {name}")
        if child := self._children.pop(name, None):
            child.wait()

    def pin(self, processors: set[int]) -> None:
        """Has nginx, MariaDB and the server run there alone, whatever they start later included."""
        for name in ("nginx", "mariadb", server(self.serving())):
            master = self.pid(name)
            workers = pathlib.Path(f"/proc/{master}/task/{master}/children").read_text().split()
            for process in (master, *workers):
                for thread in pathlib.Path(f"/proc/{process}/task").iterdir():
                    os.sched_setaffinity(int(thread.name), processors)

    def launch(self, name: str, command: list[str], environment: Mapping[str, str] | None = None,
               stdin: socket.socket | int = subprocess.DEVNULL) -> None:
        """In a session of its own and with a pid file, by which scripts/instance stops what a drill leaves behind."""
        with open(self.run / "logs" / f"{name}.log", "ab") as log:
            child = subprocess.Popen(
                command, env=environment, stdin=stdin, stdout=log, stderr=log, start_new_session=True)
        self._children[name] = child
        (self.run / "pids" / name).write_text(f"{child.pid} {start_time(child.pid)}\n")

    # --- Servers

    def serving(self) -> str:
        """The color that was started last."""
        running = [color for color in COLORS if self.pid(server(color))]
        if not running:
            raise DrillError("no merganserd is running")
        return max(running, key=lambda color: (self.run / "pids" / server(color)).stat().st_mtime_ns)

    def new_release(self) -> pathlib.Path:
        """A copy of the built program, so that the next instance does not run the same file as the present one."""
        folder = self.run / "releases"
        # Of two that take turns, the last but one has left.
        shutil.rmtree(folder / str(self._releases - 1), ignore_errors=True)
        self._releases += 1
        (folder / str(self._releases)).mkdir(parents=True)
        return pathlib.Path(shutil.copy2(self._built, folder / str(self._releases)))

    def start(self, color: str, program: pathlib.Path | None = None) -> None:
        """Returns when it is ready, which is when it serves."""
        program = program or self._built
        environment = self.settings | {
            "MERGANSER_INSTANCE": color,
            "MERGANSER_CONTROL_SOCKET": str(pathlib.Path(self.socket_path).with_name(f"control-{color}.sock")),
        }
        if self.listener is None:
            self.launch(server(color), [str(program)], environment)
        elif color == "blue":
            self.launch(server(color), [str(program)], environment, stdin=self.listener)
        else:
            # As systemd passes it, sd_listen_fds(3).
            pass_on = 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" 3<&0 0</dev/null'
            self.launch(server(color), ["/bin/sh", "-c", pass_on, str(program)], environment, stdin=self.listener)
        self.wait_until_ready(color)
        if (running := os.readlink(f"/proc/{self.pid(server(color))}/exe")) != str(program):
            raise DrillError(f"{server(color)} runs {running}, not {program}")

    def wait_until_ready(self, color: str, seconds: float = 30) -> None:
        def is_ready() -> bool:
            if self.pid(server(color)) is None:
                end = "\n".join(self.log(server(color))[-5:])
                raise DrillError(f"{server(color)} stopped; its log ends with:\n{end}")
            return self.ready(color)

        wait_until(is_ready, seconds, f"{server(color)} is ready")

    def ready(self, color: str) -> bool:
        connection = http.client.HTTPConnection(*self.address, timeout=5)
        try:
            connection.request("GET", f"/-/{color}/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def log(self, name: str) -> list[str]:
        return (self.run / "logs" / f"{name}.log").read_text(errors="replace").splitlines()

    def replace(self, program: pathlib.Path | None = None) -> str:
        """Starts the other color, then stops the one that served; returns the new one."""
        old = self.serving()
        new = other(old)
        self.start(new, program)
        self.kill(server(old), signal.SIGTERM)
        self.wait_for_end(server(old), 120)
        return new

    def share_socket(self) -> None:
        """From now on servers inherit one listening socket under nginx's path, held by this process as by systemd."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path = f"{self.socket_path}.held"
        listener.bind(path)
        listener.listen(4096)
        os.rename(path, self.socket_path)
        self.listener = listener

    def release_socket(self) -> None:
        """From now on servers listen themselves."""
        if self.listener is not None:
            self.listener.close()
            self.listener = None

    # --- Operator

    def migrate(self, folder: pathlib.Path) -> None:
        """Applies the migrations in there, as the owner of the tables."""
        environment = self.settings | {
            "MERGANSER_SQL_DIRECTORY": str(folder),
            "MERGANSER_DATABASE_USER": "merganser_owner",
            "MERGANSER_DATABASE_PASSWORD_FILE": str(self.run / "secrets" / "owner_password"),
        }
        run([str(self._built.with_name("merganserctl")), "migrate", "up"], environment)

    def keep_connections(self, directives: str) -> None:
        """Changes how nginx keeps its connections to the server, from its next request on."""
        self.configure_front("include merganser/keepalive.conf;", directives)

    def configure_front(self, shipped: str, instead: str) -> None:
        file = self.run / "nginx" / "nginx.conf"
        text = file.read_text()
        if shipped not in text:
            raise DrillError(f"nginx is not configured with \"{shipped}\"")
        file.write_text(text.replace(shipped, instead))
        self.kill("nginx", signal.SIGHUP)

    def merganserctl(self, *arguments: str) -> str:
        """What the command prints."""
        return run([self.environment["MERGANSERCTL"], *arguments])

    def sql(self, text: str) -> list[tuple[str, ...]]:
        """Runs statements as the database's administrator; the rows that come back, as text."""
        output = run([self.environment["MERGANSER_DB"], "--batch", "--skip-column-names", "--execute", text])
        return [tuple(line.split("\t")) for line in output.splitlines()]

    def hold(self, query: str, seconds: float) -> subprocess.Popen[bytes]:
        """Has a transaction of its own lock the row that the query finds, from this call's return on, for so long."""
        script = f"START TRANSACTION; {query} FOR UPDATE; DO SLEEP({seconds}); ROLLBACK"
        command = [self.environment["MERGANSER_DB"], "--unbuffered", "--execute", script]
        holder = subprocess.Popen(command, stdout=subprocess.PIPE)
        if not holder.stdout.readline():
            raise DrillError(f"{query}: finds no row to lock")
        return holder

    def _read_settings(self) -> dict[str, str]:
        command = ["/bin/sh", "-c", '. "$0" && env -0', str(self.run / "settings")]
        # Without the drill's own variables, which servers would warn of.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MERGANSER")}
        return dict(pair.split("=", 1) for pair in run(command, environment).split("\0") if pair)


def run(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    """What a command prints, which must succeed."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise DrillError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def server(color: str) -> str:
    """The name of its process."""
    return f"merganserd-{color}"


def other(color: str) -> str:
    return COLORS[1 - COLORS.index(color)]
