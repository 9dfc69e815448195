"""Forwards a unix socket's connections to another socket. While it delays, it forwards a client's bytes that much later.

Usage: proxy.py SOCKET TARGET SECONDS. SIGUSR1 begins the delay, SIGUSR2 ends it. A client of MariaDB sends a statement
and waits for its answer, so each statement is delayed once.
"""

import asyncio
import contextlib
import signal
import sys


class Proxy:
    def __init__(self, target: str, seconds: float) -> None:
        self.target = target
        self.seconds = seconds
        self.is_delaying = False

    async def serve(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        try:
            server, to_server = await asyncio.open_unix_connection(self.target)
        except OSError:
            to_client.close()
            return
        await asyncio.gather(self.pass_on(client, to_server, is_delayed=True),
                             self.pass_on(server, to_client, is_delayed=False))

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_delayed: bool) -> None:
        with contextlib.suppress(OSError):
            while part := await reader.read(1 << 16):
                if is_delayed and self.is_delaying:
                    await asyncio.sleep(self.seconds)
                writer.write(part)
                await writer.drain()
        writer.close()

    def delay(self, is_delaying: bool) -> None:
        self.is_delaying = is_delaying


async def main(socket: str, target: str, seconds: str) -> None:
    proxy = Proxy(target, float(seconds))
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, proxy.delay, True)
    loop.add_signal_handler(signal.SIGUSR2, proxy.delay, False)
    async with await asyncio.start_unix_server(proxy.serve, socket, backlog=1024) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
