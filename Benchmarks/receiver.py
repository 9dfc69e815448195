"""A receiver of webhooks, a process of its own, so that the load does not delay it.

It prints its port. For each line on its standard input it prints what arrived since the last one, an event's id and the
milliseconds since 1970 on a line, and then a line with "-".
"""

import asyncio
import sys
import time

arrivals: list[tuple[str, float]] = []


class Receiver(asyncio.Protocol):
    """Takes what is sent to /healthy and notes the event; never answers what is sent to /hanging."""

    def connection_made(self, transport) -> None:
        self.transport, self.data = transport, b""

    def data_received(self, data: bytes) -> None:
        now = time.time()
        self.data += data
        while (end := self.data.find(b"\r\n\r\n")) >= 0:
            first, *lines = self.data[:end].decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            size = end + 4 + int(headers.get("content-length", 0))
            if len(self.data) < size:
                return
            self.data = self.data[size:]
            if first.split()[1].startswith("/healthy"):
                self.transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")
                arrivals.append((headers["x-logi-event-id"], now * 1e3))


async def receive() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Receiver, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(*(f"{event} {time:.0f}" for event, time in arrivals), "-", sep="\n", flush=True)
        arrivals.clear()


asyncio.run(receive())
