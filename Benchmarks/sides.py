"""The sides of the comparison: Merganser and the floor, each behind its own nginx with the project's configuration."""

import http.client
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from plans import Recording, read_statements
from scene import RUN
from workloads import get, phones

HERE = pathlib.Path(__file__).parent
WORK = pathlib.Path(RUN) / "bench"
TICKS = os.sysconf("SC_CLK_TCK")
# What to measure instead of the release; see --program.
other_program: pathlib.Path | None = None
# What nginx adds to every answer by itself.
OF_NGINX = {
    "server",
    "date",
    "connection",
    "content-length",
    "transfer-encoding",
    "x-logi-request-id",
    "x-request-id",
    "x-content-type-options",
    "referrer-policy",
    "strict-transport-security",
}


def settings() -> dict[str, str]:
    """The configuration of the instance."""
    text = subprocess.run(
        ["bash", "-c", f". {shlex.quote(RUN)}/settings && env"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    return dict(line.split("=", 1) for line in text.splitlines() if line.startswith("MERGANSER_"))


def until(condition: Callable[[], bool], what: str, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"error: {what} within {seconds:.0f} s")
        time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def family(pid: int) -> list[int]:
    """A process and its children."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def cpu(pids: list[int]) -> float:
    """Seconds of processor time they have used."""
    total = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def nanoseconds(pids: list[int]) -> int:
    """The processor time of their threads, those that have ended left out."""
    total = 0
    for path in (task for pid in pids for task in pathlib.Path(f"/proc/{pid}/task").iterdir()):
        try:
            total += int((path / "schedstat").read_text().split()[0])
        except OSError:
            continue
    return total


def settle(pids: list[int], seconds: float) -> None:
    """Waits until processes have hardly anything to do, or for so long."""
    end, used = time.monotonic() + seconds, nanoseconds(pids)
    while time.monotonic() < end:
        time.sleep(0.1)
        before, used = used, nanoseconds(pids)
        if used - before < 2e6:
            break


def resident(pid: int) -> int:
    """Bytes of memory."""
    match = re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())
    return int(match[1]) * 1024 if match else 0


@dataclass(slots=True)
class Side:
    """A responder of one or more processes, and the nginx in front of it."""

    name: str
    address: str
    nginx: subprocess.Popen
    responders: list[subprocess.Popen]

    @property
    def url(self) -> str:
        return "http://" + self.address

    def stop(self) -> None:
        self.nginx.send_signal(signal.SIGQUIT)
        for process in self.responders:
            process.terminate()
        for process in (self.nginx, *self.responders):
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                process.kill()


def start(name: str, command: list[str], environment: Mapping[str, str], sockets: pathlib.Path) -> Side:
    """Starts a responder on sockets/NAME.sock, and nginx in front of it."""
    folder = WORK / name
    for each in (folder, folder / "logs"):
        each.mkdir(parents=True, exist_ok=True)
    with open(folder / "logs/responder.log", "ab") as log:
        responder = subprocess.Popen(
            command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    started = [responder]
    try:
        responder_socket = sockets / f"{name}.sock"
        until(responder_socket.exists, f"{name} has no socket; {folder}/logs/responder.log says more; it should have one")
        port = free_port()
        nginx = start_nginx(name, folder, port, sockets)
        started.append(nginx)
        side = Side(name, f"127.0.0.1:{port}", nginx, [responder])
        until(lambda: answers(side.url + "/static"), f"nginx of {name} does not answer; it should")
        until(lambda: answers(side.url + "/healthz"), f"{name} does not answer; it should")
        return side
    except BaseException:
        for process in started:
            process.terminate()
        raise


def start_nginx(
    name: str,
    folder: pathlib.Path,
    port: int,
    sockets: pathlib.Path,
    change: Callable[[str], str] = str,
) -> subprocess.Popen:
    """The instance's nginx.conf with other paths, nginx's own /static, and room for a thousand clients of one address.

    change: makes of this text what a responder needs that is not like Merganser.
    """
    text = (pathlib.Path(RUN) / "nginx/nginx.conf").read_text()
    text = re.sub(r"listen 127\.0\.0\.1:\d+", f"listen 127.0.0.1:{port}", text)
    text = text.replace(f"{RUN}/nginx", str(folder)).replace(f"{RUN}/logs", str(folder / "logs"))
    text = re.sub(r"unix:\S+/merganser\.sock", f"unix:{sockets}/{name}.sock", text)
    control = "control-" + name if name != "floor" else name
    text = re.sub(r"unix:\S+/control-(?:blue|green)\.sock", f"unix:{sockets}/{control}.sock", text)
    text = text.replace("server unix:" + f"{sockets}/{control}.sock max_fails=0 backup;", "")
    text = re.sub(r"limit_conn (\w+) 1000;", r"limit_conn \1 5000;", text)
    text = re.sub(r"rate=\d+r/s", "rate=1000000r/s", text)
    text = text.replace(
        "        # Attachments,",
        '        location = /static {\n            return 200 "hello\\n";\n        }\n\n        # Attachments,',
    )
    (folder / "nginx.conf").write_text(change(text))
    includes = folder / "merganser"
    if not includes.is_symlink():
        includes.symlink_to((pathlib.Path(RUN) / "nginx/merganser").resolve())
    return run_nginx(folder)


def run_nginx(folder: pathlib.Path) -> subprocess.Popen:
    """nginx with the folder's nginx.conf."""
    directives = "daemon off;" + (" user root;" if os.getuid() == 0 else "")
    return subprocess.Popen(
        [
            "nginx",
            "-c",
            str(folder / "nginx.conf"),
            "-p",
            str(folder),
            "-e",
            str(folder / "logs/nginx-error.log"),
            "-g",
            directives,
        ],
        env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"},
        stdin=subprocess.DEVNULL,
    )


def merganser(name: str, sockets: pathlib.Path, threads: int, **extra: str) -> Side:
    return start(name, *program(name, sockets, threads, **extra), sockets)


def program(name: str, sockets: pathlib.Path, threads: int, **extra: str) -> tuple[list[str], dict[str, str]]:
    """The command of an instance, and its environment."""
    own = settings()
    path = other_program or next(
        pathlib.Path(word.strip("'"))
        for word in (pathlib.Path(RUN) / "merganserd").read_text().split()
        if word.endswith("/merganserd'")
    )
    environment = {
        **os.environ,
        **own,
        "MERGANSER_SOCKET": f"{sockets}/{name}.sock",
        "MERGANSER_CONTROL_SOCKET": f"{sockets}/control-{name}.sock",
        "MERGANSER_THREADS": str(threads),
        "MERGANSER_DISPATCHERS": "1",
        **extra,
    }
    return [str(path)], environment


def compile_floor() -> tuple[pathlib.Path, pathlib.Path]:
    """The floor and the recorder."""
    WORK.mkdir(parents=True, exist_ok=True)
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "libmariadb", "libcrypto"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.split()
    warnings = ["-Wall", "-Wextra", "-Werror"]
    floor, recorder = WORK / "floor-program", WORK / "record.so"
    subprocess.run(
        ["cc", "-O2", "-g", *warnings, "-o", floor, HERE / "floor/floor.c", *flags, "-lfcgi", "-lpthread"], check=True
    )
    subprocess.run(
        ["cc", "-O1", *warnings, "-shared", "-fPIC", "-o", recorder, HERE / "floor/record.c", *flags, "-ldl"],
        check=True,
    )
    return floor, recorder


def floor(
    program: pathlib.Path, plans: pathlib.Path, sockets: pathlib.Path, threads: int, under: Sequence[str] = ()
) -> Side:
    """under: the command of a program that runs it."""
    own = settings()
    environment = {
        "FLOOR_DATABASE_" + name: own["MERGANSER_DATABASE_" + name]
        for name in ("SOCKET", "NAME", "USER", "PASSWORD_FILE")
    }
    return start("floor", [*under, str(program), f"{sockets}/floor.sock", str(plans), str(threads)], environment, sockets)


class Recorder:
    """Merganser with one thread, whose statements are recorded."""

    def __init__(self, library: pathlib.Path, sockets: pathlib.Path) -> None:
        self.path = WORK / "statements"
        self.side = merganser("recorded", sockets, 1, LD_PRELOAD=str(library), MERGANSER_RECORD=str(self.path))
        self.thread = ""
        try:
            lines = self.lines_of(lambda: self.fetch(get("/api/v1/me", phones()[0].token)))
            self.thread = next(line.split()[0] for line in lines if b"FROM paks".hex() in line)
            first = next(line for line in self.path.read_text().splitlines() if line.startswith(self.thread + " query "))
            self.session = first.split()[2]
        except BaseException:
            self.side.stop()
            raise

    def fetch(self, request, extra: Mapping[str, str] = {}) -> tuple[http.client.HTTPResponse, bytes]:
        return fetch(self.side, request, extra)

    def lines_of(self, action: Callable[[], object]) -> list[str]:
        before = self.path.stat().st_size
        action()
        with open(self.path) as file:
            file.seek(before)
            return [line for line in file.read().splitlines() if not self.thread or line.split()[0] == self.thread]

    def record(self, request) -> Recording:
        answer: list = []
        sent = time.time()
        lines = self.lines_of(lambda: answer.extend(self.fetch(request)))
        response, body = answer
        headers = [(name, value) for name, value in response.getheaders() if name.lower() not in OF_NGINX]
        return Recording(
            request.fields, sent, read_statements(lines), f"{response.status} {response.reason}", headers, body
        )


def fetch(side: Side, request, extra: Mapping[str, str] = {}) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(side.address, timeout=60)
    try:
        connection.request(request.method, request.path, request.body or None, {**request.headers, **extra})
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()
