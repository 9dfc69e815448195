"""Measures latency as phones see it, with nginx's production configuration: HTTP/2 over TLS, at fixed rates; and what TLS
handshakes cost. paced/paced.c sends, and says what its latencies mean.
"""

import array
import json
import pathlib
import re
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import sides
from load import write_requests
from scene import Request
from sides import HERE, WORK, Side, cpu, family, free_port, until
from workloads import WORKLOADS, Workload

NAMES = ("me", "userinfo", "bootstrap-known", "ingest-1")
# Of the rate at which Merganser is saturated.
SHARES = (0.25, 0.5, 0.8)
CONNECTIONS = 32
# Requests per second that no side reaches, for those that can be sent only once.
MOST = 10_000
HOST = "id.example.com"
PERCENTILES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}


def compile_generator() -> pathlib.Path:
    program = WORK / "paced"
    warnings = ["-Wall", "-Wextra", "-Werror"]
    libraries = ["-lnghttp2", "-lssl", "-lcrypto", "-lpthread"]
    subprocess.run(["cc", "-O2", "-g", *warnings, "-o", program, HERE / "paced/paced.c", *libraries], check=True)
    return program


@contextmanager
def behind_tls(side: Side, sockets: pathlib.Path) -> Iterator[tuple[Side, pathlib.Path]]:
    """The side behind another nginx, which has production.conf and what it includes, and the certificate that clients trust.

    Addresses, folders and the numbers of the limits are others: one client sends everything. The certificate has a P-256 key, as
    those of Let's Encrypt have by default.
    """
    folder = WORK / f"{side.name}-tls"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("body", "conf.d", "logs", "sites-enabled", "snippets"):
        (folder / name).mkdir(parents=True)
    root = HERE.parent / "nginx"
    (folder / "merganser").symlink_to(root / "merganser")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        [
            *"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 2".split(),
            *("-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", key, "-out", certificate),
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    ports: set[int] = set()
    while len(ports) < 3:
        ports.add(free_port())
    https, http, control = ports
    for source, target in {
        "production.conf": "nginx.conf",
        "conf.d/merganser.conf": "conf.d/merganser.conf",
        "snippets/merganser.conf": "snippets/merganser.conf",
        "site.conf": "sites-enabled/merganser",
    }.items():
        text = (root / source).read_text()
        text = re.sub(r"(?m)^user .*|^ *listen \[::\]:.*", "", text)
        text = re.sub(r"(?m)^pid .*", f"pid {folder}/nginx.pid;", text)
        for before, after in {
            "/var/log/nginx": f"{folder}/logs",
            "listen 443 ": f"listen 127.0.0.1:{https} ",
            "listen 80": f"listen 127.0.0.1:{http}",
            "listen 127.0.0.1:9180": f"listen 127.0.0.1:{control}",
            "unix:/run/merganser/merganser.sock": f"unix:{sockets}/{side.name}.sock",
        }.items():
            text = text.replace(before, after)
        text = re.sub(r"(ssl_certificate) .*;", rf"\1 {certificate};", text)
        text = re.sub(r"(ssl_certificate_key) .*;", rf"\1 {key};", text)
        text = re.sub(r"rate=\d+r/s", "rate=1000000r/s", text)
        text = re.sub(r"burst=\d+", "burst=100000", text)
        text = re.sub(r"limit_conn (\w+) \d+;", r"limit_conn \1 5000;", text)
        temporary = (f"{kind}_temp_path body;" for kind in ("client_body", "fastcgi", "proxy", "scgi", "uwsgi"))
        text = text.replace("\nhttp {", "\nhttp {\n    " + " ".join(temporary))
        (folder / target).write_text(text)
    nginx = sides.run_nginx(folder)
    try:
        until(lambda: handshake(https, certificate), "nginx does not answer over TLS; it should")
        yield Side(side.name, f"127.0.0.1:{https}", nginx, side.responders), certificate
    finally:
        nginx.terminate()
        nginx.wait(40)


def handshake(port: int, certificate: pathlib.Path) -> bool:
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-servername", HOST, "-CAfile", certificate]
    done = subprocess.run([*command, "-verify_return_error"], stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode == 0


def paced(program: pathlib.Path, *arguments: object) -> dict:
    done = subprocess.run([program, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"error: {' '.join(map(str, arguments))}: paced exits with {done.returncode}")
    return json.loads(done.stdout)


class Generator:
    """Sends one workload to one side."""

    def __init__(
        self, program: pathlib.Path, side: Side, certificate: pathlib.Path, workload: Workload, requests: list[Request]
    ) -> None:
        self.program, self.side, self.certificate = program, side, certificate
        self.workload, self.requests = workload, requests
        self.name = side.name

    def send(self, rate: float, seconds: float) -> tuple[dict, array.array]:
        """At that rate; 0: as fast as the side answers. Returns the counts, and the microseconds of each answer."""
        requests = self.requests
        if self.workload.once:
            requests = self.workload.prepare(int((rate or MOST) * seconds) + 1)
        files = WORK / "requests", WORK / "latencies"
        write_requests(files[0], requests, self.workload.name, HOST)
        port = self.side.address.rpartition(":")[2]
        counts = paced(
            self.program, "load", port, self.certificate, files[0], CONNECTIONS, rate, seconds, self.workload.status, files[1]
        )
        # A side that is overloaded refuses requests.
        counts["failed"] = counts["wrong"] + counts["unanswered"]
        if 2 * counts["failed"] > counts["requests"]:
            raise SystemExit(f"error: {self.workload.name} on {self.name} at {rate:.0f}/s: {counts}")
        return counts, array.array("I", files[1].read_bytes())


HEAD = (
    f"{'workload':<18}{'side':<11}{'requests/s':>11}{'of saturation':>15}{'p50 ms':>9}{'p99 ms':>9}{'p99.9 ms':>10}"
)


def measure(bench, rounds: int, seconds: float) -> dict:
    program = compile_generator()
    result = {
        "rounds": rounds,
        "seconds": seconds,
        "connections": CONNECTIONS,
        "workloads": [],
    }
    with behind_tls(bench.merganser, bench.sockets) as (ours, certificate):
        print("Over TLS and HTTP/2, at fixed rates:", HEAD, sep="\n", flush=True)
        for workload in WORKLOADS:
            if workload.name in NAMES:
                requests = workload.prepare(64)
                with bench.floor(workload, requests) as (floor, _), behind_tls(floor, bench.sockets) as (theirs, trusted):
                    pair = (
                        Generator(program, theirs, trusted, workload, requests),
                        Generator(program, ours, certificate, workload, requests),
                    )
                    result["workloads"].append(at_rates(workload, pair, rounds, seconds))
        result["handshakes"] = handshakes(program, ours, certificate, seconds)
    return result


def at_rates(workload: Workload, generators: tuple[Generator, ...], rounds: int, seconds: float) -> dict:
    """Both sides in turn, at the same rates: shares of the rate at which Merganser is saturated."""
    names = ["floor", "merganser"]
    saturated = {
        name: statistics.median(generator.send(0, seconds)[0]["rate"] for _ in range(min(3, rounds)))
        for name, generator in zip(names, generators)
    }
    entry = {"name": workload.name, "title": workload.title, "saturated": saturated, "rates": []}
    for share in SHARES:
        rate = share * saturated["merganser"]
        taken, failed = {name: array.array("I") for name in names}, dict.fromkeys(names, 0)
        for _ in range(rounds):
            for name, generator in zip(names, generators):
                counts, latencies = generator.send(rate, seconds)
                taken[name] += latencies
                failed[name] += counts["failed"]
        measured = {name: {**percentiles(taken[name]), "failed": failed[name]} for name in names}
        entry["rates"].append({"share": share, "rate": rate, **measured})
        for name, each in measured.items():
            print(
                f"{workload.name if share == SHARES[0] and name == 'floor' else '':<18}{name:<11}{rate:>11,.0f}{share:>15.0%}"
                f"{each['p50']:>9.2f}{each['p99']:>9.2f}{each['p999']:>10.2f}"
                + (f"  {each['failed']} failed" if each["failed"] else ""),
                flush=True,
            )
    return entry


def percentiles(latencies: array.array) -> dict[str, float]:
    """In milliseconds."""
    ordered = sorted(latencies)
    return {name: ordered[int(share * (len(ordered) - 1))] / 1e3 for name, share in PERCENTILES.items()} | {
        "requests": len(ordered)
    }


def handshakes(program: pathlib.Path, side: Side, certificate: pathlib.Path, seconds: float) -> list[dict]:
    """Connections that end after the handshake (TLS 1.3), by four clients at a time."""
    found = []
    port = side.address.rpartition(":")[2]
    for kind in ("full", "resumed"):
        before = cpu(family(side.nginx.pid))
        counts = paced(program, "shake", port, certificate, kind, 4, seconds)
        used = cpu(family(side.nginx.pid)) - before
        # The first connection of each client gets the session.
        if kind == "resumed" and counts["full"] > 4 or kind == "full" and counts["resumed"]:
            raise SystemExit(f"error: handshakes are not {kind}: {counts}")
        each = {
            "kind": kind,
            "rate": counts[kind] / counts["duration"],
            "nginx_cpu": used * 1000 / (counts["full"] + counts["resumed"]),
        }
        found.append(each)
        print(f"  {kind} handshakes: {each['rate']:,.0f}/s, {each['nginx_cpu']:.3f} CPU ms of nginx each", flush=True)
    return found
