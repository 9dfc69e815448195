"""Makes the pictures of README.md, of people who do not exist. Usage: screenshots.py FOLDER"""

import os
import subprocess
import sys

from browser import URL, Browser
from people import Person
from phones import Phone, merganserctl


def application(name):
    callback = f"com.example.{name.lower()}://callback"
    created = merganserctl(
        "application", "create", "--name", name, "--client-type", "public", "--redirect-uri", callback,
        "--allow-anonymous-grants",
    )  # fmt: skip
    return created["client_id"]


def seed(phone, *applications):
    arguments = [argument for client in applications for argument in ("--application", client)]
    merganserctl("dev", "seed", "--user", str(phone.user), *arguments)


def person(given_name, family_name):
    made = Person(given_name, family_name)
    made.subject = given_name.lower()
    made.email = f"{made.subject}@example.com"
    return made


def sign_in(browser, path, who):
    browser.reset()
    browser.open(URL + path)
    browser.press("Continue with Apple")
    who.sign_in(browser)


def picture(browser, folder, name, width, height):
    browser.size(width, height)
    browser.driver.execute_script("document.activeElement.blur(); window.scrollTo(0, 0)")
    view = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    browser.screenshot(os.path.join(folder, name), clip=view)


def main(folder):
    notes, chess, radio = [application(name) for name in ("Notes", "Chess", "Radio")]
    mina, ada = person("Mina", "Kim"), person("Ada", "Admin")
    browser = Browser()
    try:
        sign_in(browser, "/account", mina)
        # What the phone had before Mina signed in there goes into her account.
        phone = Phone()
        seed(phone, notes, radio)
        phone.swap("apple", mina.subject, mina.email)
        # She signed in to her tablet with Google, and got another account, which becomes one with hers.
        tablet = Phone("android")
        tablet.sign_in("google", "mina.kim", "mina.kim@example.org")
        seed(tablet, chess)
        phone.merge(tablet)
        phone.agent("Build agent")
        browser.open(f"{URL}/account")
        picture(browser, folder, "account.png", 900, 1000)

        sign_in(browser, "/account", ada)
        query = "SELECT user_id FROM identities WHERE sub = 'ada'"
        found = subprocess.run(
            [os.environ["MERGANSER_DB"], "-N", "-B", "-e", query], check=True, stdout=subprocess.PIPE, text=True
        )
        merganserctl("user", "role", found.stdout.strip(), "admin")
        browser.open(f"{URL}/admin/users/{phone.user}")
        picture(browser, folder, "console.png", 1280, 1000)
    finally:
        browser.quit()


if __name__ == "__main__":
    main(sys.argv[1])
