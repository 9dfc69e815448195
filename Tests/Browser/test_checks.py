"""The checks themselves: each finds what it looks for."""

import page_checks
from browser import URL, WIDTHS, BrowserTestCase


class Checks(BrowserTestCase):
    def setUp(self):
        super().setUp()
        self.browser.open(URL + "/oauth/errors")

    def expect(self, script, fault):
        """Spoils the page, and expects the check to say so."""
        self.browser.driver.execute_script(script)
        found = page_checks.faults(self.browser, self.language, WIDTHS)
        self.assertTrue(any(fault in text for text in found), found)

    def test_a_good_page_has_no_faults(self):
        self.assertEqual(page_checks.faults(self.browser, self.language, WIDTHS), [])

    def test_contrast(self):
        self.expect("document.styleSheets[0].insertRule('dd { color: #8a8a8a !important }', 0)", "contrast")

    def test_sideways(self):
        self.expect("document.styleSheets[0].insertRule('main { width: 40rem !important }', 0)", "scrolls sideways")

    def test_drawing(self):
        drawing = "<svg viewBox='0 0 100 20'><g><rect width='20' height='20'/><text y='15'>Too long</text></g></svg>"
        self.expect(f'document.querySelector("main").insertAdjacentHTML("beforeend", "{drawing}")', "of its box")

    def test_target(self):
        self.expect(
            "const a = document.createElement('a'); a.href = '/'; a.innerText = 'A long link';"
            "document.querySelector('main').append(a)",
            "too small to hit",
        )

    def test_heading(self):
        self.expect("document.querySelector('main').append(document.createElement('h1'))", "2 h1")

    def test_label(self):
        self.expect("document.querySelector('main').append(document.createElement('input'))", "has no label")

    def test_name(self):
        self.expect("document.querySelector('main').append(document.createElement('button'))", "a button has no name")

    def test_axe_core(self):
        self.expect("document.querySelector('h1').setAttribute('role', 'unheard-of')", "aria-roles")

    def test_language(self):
        self.expect("document.documentElement.lang = ''", "lang is")

    def test_violation(self):
        self.browser.driver.execute_script(
            "const i = new Image(); i.src = 'http://localhost:1/x.png'; document.body.append(i)"
        )
        found = self.browser.violations()
        self.assertTrue(any("img-src" in text for text in found), found)

    def test_script_is_off(self):
        self.browser.open("data:text/html,<title>off</title><script>document.title = 'on'</script>")
        self.assertEqual(self.browser.driver.title, "off")
