"""The instance's MariaDB, which can be killed, frozen, put on a full disk or behind a proxy that slows it down."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
from collections.abc import Iterator

from instance import DrillError, Instance, run, wait_until

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"


class DatabaseServer:
    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.data = instance.run / "mariadb"
        self.socket = pathlib.Path(instance.settings["MERGANSER_DATABASE_SOCKET"])
        # What it is started with from here on, besides the options of scripts/mariadbd.
        self.options: list[str] = []

    def start(self) -> None:
        """Returns when it answers, after its recovery."""
        self.instance.launch("mariadb", [str(SCRIPTS / "mariadbd"), str(self.data), str(self.socket), *self.options])
        wait_until(self.answers, 60, "MariaDB answers")

    def answers(self) -> bool:
        try:
            return self.instance.sql("SELECT 1") == [("1",)]
        except DrillError:
            return False

    def kill(self) -> None:
        self.instance.kill("mariadb", signal.SIGKILL)
        self.instance.wait_for_end("mariadb", 10)

    def stop(self) -> None:
        self.instance.kill("mariadb", signal.SIGTERM)
        self.instance.wait_for_end("mariadb", 60)

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """MariaDB accepts connections and statements, but answers none, as if the network dropped its packets."""
        self.instance.kill("mariadb", signal.SIGSTOP)
        try:
            yield
        finally:
            self.instance.kill("mariadb", signal.SIGCONT)

    def cut_connections(self) -> None:
        """Those of the servers."""
        for (id,) in self.instance.sql("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'merganser'"):
            # One may have ended by itself meanwhile.
            with contextlib.suppress(DrillError):
                self.instance.sql(f"KILL {id}")

    @contextlib.contextmanager
    def on_small_disk(self) -> Iterator["Disk"]:
        """With its data on a tmpfs, which root alone can mount."""
        if os.geteuid() != 0:
            raise DrillError("only root can mount a file system for MariaDB's data; leave disk_full out with ONLY=")
        aside = self.data.with_name("mariadb.aside")
        self.stop()
        self.data.rename(aside)
        self.data.mkdir()
        run(["mount", "-t", "tmpfs", "-o", "size=512m", "drill", str(self.data)])
        try:
            copy(aside, self.data)
            self.start()
            yield Disk(self.data)
            self.stop()
            shutil.rmtree(aside)
            copy(self.data, aside)
        finally:
            if self.instance.pid("mariadb"):
                self.kill()
            run(["umount", str(self.data)])
            self.data.rmdir()
            aside.rename(self.data)
        self.start()

class Disk:
    def __init__(self, folder: pathlib.Path) -> None:
        self.ballast = folder / "ballast"

    def fill(self) -> None:
        """To the last byte."""
        with contextlib.suppress(OSError), open(self.ballast, "wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))

    def clear(self) -> None:
        self.ballast.unlink()


class Proxy:
    """Between servers and MariaDB; while it is delaying, each of their statements takes so many seconds more."""

    def __init__(self, instance: Instance, target: pathlib.Path, seconds: float) -> None:
        self.instance = instance
        self.socket = target.with_name("proxy.sock")
        program = pathlib.Path(__file__).with_name("proxy.py")
        instance.launch("proxy", ["/usr/bin/python3", "-B", str(program), str(self.socket), str(target), str(seconds)])
        wait_until(self.socket.exists, 10, "the proxy listens")

    def __enter__(self) -> "Proxy":
        return self

    @contextlib.contextmanager
    def delaying(self) -> Iterator[None]:
        self.instance.kill("proxy", signal.SIGUSR1)
        try:
            yield
        finally:
            self.instance.kill("proxy", signal.SIGUSR2)

    def __exit__(self, *_: object) -> None:
        self.instance.kill("proxy", signal.SIGTERM)
        self.instance.wait_for_end("proxy", 10)
        self.socket.unlink()


def copy(source: pathlib.Path, target: pathlib.Path) -> None:
    """What is in one folder, into the other; without holes, so that only what grows needs room."""
    subprocess.run(["cp", "-a", "--sparse=never", f"{source}/.", str(target)], check=True)
