"""Every page in every state, with names as long as they may be: what the tests of the pages have in their gallery."""

import http.server
import os
import pathlib
import threading

import page_checks
from browser import BrowserTestCase


class Folder(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments):
        super().__init__(*arguments, directory=os.environ["GALLERY"])

    def log_message(self, *arguments):
        pass


class Gallery(BrowserTestCase):
    widths = (320, 768, 1280, 1920)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Folder)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)

    def test_every_page(self):
        pages = (pathlib.Path(os.environ["GALLERY"]) / "pages.tsv").read_text().splitlines()
        self.assertGreater(len(pages), 200)
        for line in pages:
            file, language, name = line.split("\t")
            self.browser.open(f"http://127.0.0.1:{self.server.server_port}/{file}")
            for fault in page_checks.faults(self.browser, language, self.widths):
                with self.subTest(page=name, language=language):
                    self.fail(fault)
