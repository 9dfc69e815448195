"""Counts the packets that webhooks send to forbidden addresses (accounts §3.5), which must be none.

In a network of its own every address has a route, and the resolver is the drill's: what it answers for a name changes
from one question to the next, so that a dispatcher that asked again after its check would connect elsewhere. Only root
can make such a network. Where that is not permitted nothing is counted; TransferPoolTests count connections instead.
"""

import argparse
import contextlib
import ctypes
import dataclasses
import http.server
import ipaddress
import json
import os
import pathlib
import signal
import socket
import ssl
import struct
import sys
import threading
import time

import report
from database import SCRIPTS
from instance import DrillError, Instance, run, server

FORBIDDEN = [ipaddress.ip_network(block) for block in """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    ::/96 ::1/128 ::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 fc00::/7
    fe80::/10 fec0::/10 ff00::/8
    """.split()]
# Where the receiver listens, and the resolver.
PUBLIC, NAME_SERVER = "93.184.215.14", "9.9.9.9"
PUBLIC_6 = "2606:2800:21f:cb07::1"


@dataclasses.dataclass
class Name:
    """A receiver's host. answers: its addresses at the first question, the second one, and so on; the last stay."""

    name: str
    answers: list[list[str]]
    # What becomes of the attempt; None is a delivery.
    failure: str | None
    asked: dict[int, int] = dataclasses.field(default_factory=dict)


def names() -> list[Name]:
    """The first question is asked when the URL is registered, the second one before the event is sent."""
    blocks = [Name(f"block{number}.example", [[PUBLIC], [str(inside(block))]], "ssrf_blocked")
              for number, block in enumerate(FORBIDDEN)]
    return [
        Name("steady.example", [[PUBLIC]], None),
        Name("rebound.example", [[PUBLIC], [PUBLIC], ["10.1.2.3"]], None),
        Name("rebound-here.example", [[PUBLIC], [PUBLIC], ["127.0.0.1"]], None),
        Name("rebound6.example", [[PUBLIC], [PUBLIC], ["fd00::1"]], None),
        Name("mixed.example", [[PUBLIC], [PUBLIC, "169.254.169.254"]], "ssrf_blocked"),
        Name("mixed6.example", [[PUBLIC], [PUBLIC, "::1"]], "ssrf_blocked"),
        Name("mapped.example", [[PUBLIC], ["::ffff:10.1.2.3"]], "ssrf_blocked"),
        *blocks,
    ]


def inside(block: ipaddress.IPv4Network | ipaddress.IPv6Network) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return block[block.num_addresses // 3]


def is_forbidden(address: str) -> bool:
    address = ipaddress.ip_address(address)
    return any(address.version == block.version and address in block for block in FORBIDDEN)


class NameServer(threading.Thread):
    """Answers each name's questions with what the name has in turn, A and AAAA counted apart (RFC 1035)."""

    TYPES = {1: 4, 28: 6}

    def __init__(self, hosts: list[Name]) -> None:
        super().__init__(daemon=True)
        self.hosts = {host.name: host for host in hosts}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((NAME_SERVER, 53))

    def run(self) -> None:
        while True:
            question, client = self.socket.recvfrom(4096)
            self.socket.sendto(self.answer(question), client)

    def answer(self, query: bytes) -> bytes:
        labels, at = [], 12
        while length := query[at]:
            labels.append(query[at + 1:at + 1 + length].decode())
            at += 1 + length
        (kind,) = struct.unpack_from("!H", query, at + 1)
        host = self.hosts.get(".".join(labels).lower())
        records = b""
        count = 0
        if host and kind in self.TYPES:
            turn = host.asked[kind] = host.asked.get(kind, 0) + 1
            for text in host.answers[min(turn, len(host.answers)) - 1]:
                address = ipaddress.ip_address(text)
                if address.version == self.TYPES[kind]:
                    records += struct.pack("!HHHIH", 0xC00C, kind, 1, 0, len(address.packed)) + address.packed
                    count += 1
        head = struct.pack("!HHHHH", 0x8180 if host else 0x8183, 1, count, 0, 0)
        return query[:2] + head + query[12:at + 5] + records


class Packets(threading.Thread):
    """The destinations of all IP packets that are sent, but for what the kernel tells its neighbours (ICMPv6)."""

    ALL, OUTGOING, ICMP_6 = 0x0003, 4, 58

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.sent: list[str] = []
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(self.ALL))

    def run(self) -> None:
        while True:
            packet, (_, protocol, kind, *_) = self.socket.recvfrom(128)
            if kind != self.OUTGOING:
                continue
            if protocol == 0x0800:
                self.sent.append(str(ipaddress.IPv4Address(packet[16:20])))
            elif protocol == 0x86DD and packet[6] != self.ICMP_6:
                self.sent.append(str(ipaddress.IPv6Address(packet[24:40])))

    def settled(self) -> list[str]:
        """All so far. A packet of our own marks the end of those before it."""
        mark = "8.8.4.4"
        before = self.sent.count(mark)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"", (mark, 9))
        while self.sent.count(mark) == before:
            time.sleep(0.01)
        return [address for address in self.sent if address != mark]


class Receiver:
    """An HTTPS server for all names at the public address. Keeps the host that each event names, and the SNI."""

    def __init__(self, folder: pathlib.Path, hosts: list[Name]) -> None:
        self.events: list[tuple[str, str | None]] = []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                receiver.events.append((self.headers["Host"], self.connection.drill_name))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        certificate, key = folder / "certificate.pem", folder / "key.pem"
        run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
             "2", "-subj", "/CN=drill", "-keyout", str(key), "-out", str(certificate), "-addext",
             "subjectAltName=" + ",".join(f"DNS:{host.name}" for host in hosts)])
        (folder / "certs").mkdir()
        (folder / "certs" / "ca-certificates.crt").write_bytes(certificate.read_bytes())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)

        def remember(connection: ssl.SSLSocket, name: str | None, _: ssl.SSLContext) -> None:
            connection.drill_name = name

        context.sni_callback = remember
        self.server = http.server.ThreadingHTTPServer((PUBLIC, 443), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class AddressDrill:
    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.hosts = names()
        self.folder = instance.run / "addresses"
        self.folder.mkdir()

    def run(self, has_ipv6: bool) -> list[str]:
        self.receiver = Receiver(self.folder, self.hosts)
        self.mount()
        NameServer(self.hosts).start()
        packets = Packets()
        packets.start()
        applications = {self.register(host): host for host in self.hosts}
        self.instance.merganserctl("dispatch", "--once")
        sent = packets.settled()
        return self.judge(applications, sent) + self.control(packets, has_ipv6)

    def mount(self) -> None:
        """For the programs that are started from here on: our resolver, and our certificate as the only CA's."""
        for place, text in {"/etc/resolv.conf": f"nameserver {NAME_SERVER}\n",
                            "/etc/nsswitch.conf": "hosts: dns\n"}.items():
            if pathlib.Path(place).exists():
                file = self.folder / pathlib.Path(place).name
                file.write_text(text)
                run(["mount", "--bind", str(file), place])
        run(["mount", "--bind", str(self.folder / "certs"), "/etc/ssl/certs"])

    def register(self, host: Name) -> int:
        """An application with one event for the receiver."""
        made = json.loads(self.instance.merganserctl(
            "application", "create", "--name", host.name, "--client-type", "confidential", "--redirect-uri",
            "com.example.drill://callback", "--webhook-url", f"https://{host.name}/hook", "--json"))
        self.instance.merganserctl("webhook-key", "compromised", made["client_id"], made["webhook_key"]["kid"])
        return made["id"]

    def judge(self, applications: dict[int, Name], sent: list[str]) -> list[str]:
        problems = []
        forbidden = [address for address in sent if is_forbidden(address)]
        if forbidden:
            problems.append(f"{len(forbidden)} packets were sent to forbidden addresses, as {forbidden[0]}")
        strange = set(sent) - {PUBLIC, NAME_SERVER} - set(forbidden)
        if strange:
            problems.append(f"packets were sent to {', '.join(sorted(strange))}")
        attempts = self.instance.sql("SELECT application_id, COALESCE(failure_reason, '') FROM webhook_attempts")
        reasons = {int(application): reason or None for application, reason in attempts}
        for application, host in applications.items():
            if reasons.get(application, "no attempt") != host.failure:
                problems.append(f"{host.name}: {reasons.get(application, 'no attempt')} instead of {host.failure}")
            if host.asked != {1: 2, 28: 2}:
                problems.append(f"{host.name}: asked for {host.asked} (A: 1, AAAA: 28), not twice each")
        delivered = sorted(host.name for host in self.hosts if host.failure is None)
        if sorted(self.receiver.events) != [(name, name) for name in delivered]:
            problems.append(f"events came with Host and SNI {self.receiver.events}")
        print(f"  {len(attempts)} attempts, {len(delivered)} of them delivered; packets: {sent.count(PUBLIC)} to the"
              f" receiver, {sent.count(NAME_SERVER)} of the resolver, {len(forbidden)} to forbidden addresses")
        return problems

    def control(self, packets: Packets, has_ipv6: bool) -> list[str]:
        """The counter misses none: a packet that we send into each block is counted."""
        missed = []
        # Packets to ::ffff:0:0/96 are IPv4's.
        blocks = [block for block in FORBIDDEN
                  if str(block) != "::ffff:0:0/96" and (has_ipv6 or block.version == 4)]
        for block in blocks:
            address = str(inside(block))
            before = len(packets.settled())
            with socket.socket(socket.AF_INET if block.version == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as sender:
                scope = (0, socket.if_nametoindex("drill")) if block.version == 6 else ()
                sender.sendto(b"", (address, 9, *scope))
            if address not in packets.settled()[before:]:
                missed.append(str(block))
        print(f"  of the packets that the drill itself sent into {len(blocks)} forbidden blocks,"
              f" {len(blocks) - len(missed)} were counted")
        return [f"a packet to {', '.join(missed)} was not counted"] if missed else []


def enter_network() -> bool:
    """Gives this process, and those that it starts, a network and a table of mounts of their own (unshare(2)).

    Returns whether the network has IPv6, too.
    """
    new_mounts, new_network = 0x00020000, 0x40000000
    if ctypes.CDLL(None, use_errno=True).unshare(new_mounts | new_network) != 0:
        raise DrillError(f"unshare: {os.strerror(ctypes.get_errno())}")
    # What is mounted here is not mounted elsewhere.
    run(["mount", "--make-rprivate", "/"])
    # Whatever is sent elsewhere leaves by one end of a cable, without asking for neighbours. Nobody takes it.
    for command in ("link set lo up", "link add drill type veth peer name nobody", "link set nobody up",
                    "link set drill arp off up", f"address add {PUBLIC}/32 dev lo",
                    f"address add {NAME_SERVER}/32 dev lo", "address add 8.8.8.8/32 dev drill",
                    "route add default dev drill"):
        run(["ip", *command.split()])
    with contextlib.suppress(DrillError):
        run(["ip", "address", "add", f"{PUBLIC_6}/64", "dev", "drill", "nodad"])
        run(["ip", "-6", "route", "add", "default", "dev", "drill"])
        return True
    print("  there is no IPv6 on this machine: nobody could send such packets")
    return False


def main() -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    try:
        run([str(SCRIPTS / "packages"), "iproute2"])
        instance = Instance()
        # Its dispatcher is in the machine's network.
        instance.kill(server(instance.serving()), signal.SIGTERM)
        instance.wait_for_end(server("blue"), 60)
        try:
            has_ipv6 = enter_network()
        except DrillError as error:
            print(f"  no packets were counted, because this machine permits no network of one's own: {error}")
            return 0
        problems = AddressDrill(instance).run(has_ipv6)
    except DrillError as error:
        problems = [str(error)]
    return report.verdict(problems)


if __name__ == "__main__":
    sys.exit(main())
