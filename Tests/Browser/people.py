"""People at the stand-in for Apple and Google."""

import secrets


class Person:
    def __init__(self, given_name="Jane", family_name="Appleseed"):
        self.subject = secrets.token_hex(8)
        self.given_name, self.family_name = given_name, family_name
        self.email = f"{self.subject}@example.com"

    @property
    def name(self):
        return f"{self.given_name} {self.family_name}"

    def sign_in(self, browser):
        """On the stand-in's page, and back to the server."""
        for field in ("subject", "email", "given_name", "family_name"):
            browser.type(field, getattr(self, field))
        browser.press("Continue")
        browser.press("Go on")
