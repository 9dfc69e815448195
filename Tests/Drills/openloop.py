"""Sends requests at a rate that does not depend on how soon they are answered, as many independent clients do.

A client that has no answer within its patience hangs up. Requests are written and answers read by hand: the generator
has to be faster than what it measures, beside it on the same machine.
"""

import asyncio
import collections
import dataclasses
import itertools
import time
from collections.abc import Callable


@dataclasses.dataclass
class Sample:
    """What became of the requests that were sent within one stretch of time."""

    seconds: float
    # None: the client hung up, or the connection ended.
    statuses: collections.Counter[int | None]
    # Of the answers 200, in order.
    latencies: list[float]

    @property
    def offered(self) -> float:
        return self.statuses.total() / self.seconds

    @property
    def goodput(self) -> float:
        return self.statuses[200] / self.seconds


class OpenLoop:
    def __init__(self, address: tuple[str, int], render: Callable[[], tuple[bytes, str]],
                 answered: Callable[[str, float, float, int | None], None], patience: float) -> None:
        """render: a request's bytes and the id of what it writes, which answered is told with begin, end and status."""
        self.address = address
        self.render = render
        self.answered = answered
        self.patience = patience
        # nginx limits connections by address, and clients have different ones.
        self.sources = itertools.cycle(f"127.0.1.{number}" for number in range(1, 201))
        self.idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    def run(self, rate: float, seconds: float) -> Sample:
        return asyncio.run(self._run(rate, seconds))

    def saturate(self, clients: int, seconds: float) -> Sample:
        """So many clients, each with its next request as soon as it has its answer: what can be served."""
        return asyncio.run(self._saturate(clients, seconds))

    async def _saturate(self, clients: int, seconds: float) -> Sample:
        sample = Sample(seconds, collections.Counter(), [])
        end = time.monotonic() + seconds

        async def client() -> None:
            while time.monotonic() < end:
                await self._send(sample)

        await asyncio.gather(*(client() for _ in range(clients)))
        return self._finish(sample)

    async def _run(self, rate: float, seconds: float) -> Sample:
        sample = Sample(seconds, collections.Counter(), [])
        begin = time.monotonic()
        tasks = set()
        for number in itertools.count():
            due = begin + number / rate
            if due >= begin + seconds:
                break
            # Behind, it sends at once: the rate is kept in the mean.
            if (pause := due - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            elif number % 50 == 0:
                await asyncio.sleep(0)
            task = asyncio.create_task(self._send(sample))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        sample.seconds = time.monotonic() - begin
        if tasks:
            await asyncio.wait(tasks)
        return self._finish(sample)

    def _finish(self, sample: Sample) -> Sample:
        for _, writer in self.idle:
            writer.close()
        self.idle.clear()
        sample.latencies.sort()
        return sample

    async def _send(self, sample: Sample) -> None:
        began = time.monotonic()
        request, id = self.render()
        try:
            async with asyncio.timeout(self.patience):
                status = await self._exchange(request)
        except (OSError, asyncio.IncompleteReadError, TimeoutError, ValueError):
            status = None
        ended = time.monotonic()
        sample.statuses[status] += 1
        if status == 200:
            sample.latencies.append(ended - began)
        self.answered(id, began, ended, status)

    async def _exchange(self, request: bytes) -> int:
        reader, writer = self.idle.pop() if self.idle else await asyncio.open_connection(
            *self.address, local_addr=(next(self.sources), 0))
        try:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            fields = head.lower()
            length = fields.index(b"content-length: ") + 16
            await reader.readexactly(int(fields[length:fields.index(b"\r", length)]))
        except BaseException:
            writer.transport.abort()
            raise
        if b"connection: close" in fields:
            writer.close()
        else:
            self.idle.append((reader, writer))
        return int(head[9:12])
