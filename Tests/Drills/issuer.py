"""A stand-in for the address of Apple's key set. It can be down, be slow, or send wrong answers."""

import contextlib
import http.server
import pathlib
import threading
import time
from collections.abc import Iterator

# What it answers instead of the keys: status and body.
LIES = {
    "error": (500, b"Internal Server Error"),
    "page": (200, b"<!doctype html><title>Captive portal</title>"),
    "no keys": (200, b'{"keys":[]}'),
    "broken": (200, b'{"keys":[{"kty":"RSA","kid":'),
    "huge": (200, b'{"keys":[' + b" " * (8 << 20) + b"]}"),
}


class KeyEndpoint:
    """Listens on a port of its own. mode: true, slow, or one of LIES."""

    def __init__(self, keys: pathlib.Path) -> None:
        self.mode = "true"
        endpoint = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if endpoint.mode == "slow":
                    time.sleep(20)
                status, body = LIES.get(endpoint.mode) or (200, keys.read_bytes())
                # Whoever asked may have left.
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/keys"

    @contextlib.contextmanager
    def serving(self) -> Iterator["KeyEndpoint"]:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        try:
            yield self
        finally:
            self.go_down()

    def go_down(self) -> None:
        """From now on connections are refused."""
        self._server.shutdown()
        self._server.server_close()
