"""The provider under test, as its operator and the people who use it reach it; nothing of a relying party."""

import html.parser
import json
import os
import secrets
import subprocess
import uuid
from urllib.parse import parse_qsl, urljoin, urlsplit

import requests

URL = os.environ["MERGANSER_URL"]
DISCOVERY = URL + "/.well-known/openid-configuration"
# Authlib refuses http otherwise; this provider is on a loopback address.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"


def merganserctl(*arguments):
    """Runs the operator's tool and returns what it printed."""
    return json.loads(subprocess.run([os.environ["MERGANSERCTL"], *arguments], check=True, stdout=subprocess.PIPE).stdout)


def register(client_type, *options, redirect_uri, scopes=("openid", "profile:basic", "email", "offline_access")):
    """Registers an application; its client_id and, if it is confidential, its client_secret."""
    return merganserctl(
        "application", "create", "--name", "Tests", "--client-type", client_type, "--redirect-uri", redirect_uri,
        "--scope", *scopes, *options, "--json")


class Account:
    """Somebody who owns an account, known by an Apple identity."""

    def __init__(self):
        self.subject = "apple." + secrets.token_hex(8)
        self.email = self.subject + "@example.com"

    def identity_token(self, raw_nonce):
        return subprocess.run(
            [os.environ["MERGANSERCTL"], "dev", "token", "--provider", "apple", "--subject", self.subject, "--nonce", raw_nonce,
             "--email", self.email, "--email-verified", "true"],
            check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class Phone:
    """The provider's own app: it signs its user in elsewhere without a browser (native authorize)."""

    def __init__(self, account=None):
        """Without an account its user is anonymous."""
        body = {"device_uuid": str(uuid.uuid4()), "platform": "ios"}
        if account is None:
            path = "/api/v1/devices"
        else:
            path = "/api/v1/auth/apple/session"
            nonce = secrets.token_urlsafe(16)
            body |= {"identity_token": account.identity_token(nonce), "raw_nonce": nonce}
        answer = requests.post(URL + path, json=body)
        answer.raise_for_status()
        self.user_id = str(answer.json()["user"]["id"])
        self.headers = {"Authorization": "Bearer " + answer.json()["access_token"]}

    def authorize(self, url, **members):
        """Answers an authorize URL; the whole answer."""
        parameters = dict(parse_qsl(urlsplit(url).query))
        return requests.post(URL + "/api/v1/oauth/authorize", json=parameters | members, headers=self.headers)

    def visit(self, url):
        """Consents; where the browser is sent back to."""
        answer = self.authorize(url)
        answer.raise_for_status()
        return answer.json()["redirect_to"]

    def refuse(self, url):
        answer = self.authorize(url, decision="deny")
        answer.raise_for_status()
        return answer.json()["redirect_to"]


class Developer(Phone):
    """Somebody who manages an application of their own through the API. It is confidential, and approved."""

    def __init__(self, **members):
        super().__init__(Account())
        merganserctl("user", "role", self.user_id, "developer", "--json")
        self.path = "/api/v1/applications"
        application = {"name": "Tests", "client_type": "confidential", **members}
        self.application = self.send("POST", "", application=application)
        self.client_id = self.application["client_id"]
        self.path += "/" + self.client_id
        merganserctl("application", "approve", self.client_id, "--json")

    def send(self, method, action="", **members):
        """Sends a request about the application; the body of the answer."""
        answer = requests.request(method, URL + self.path + action, json=members, headers=self.headers)
        answer.raise_for_status()
        return answer.json()


class Browser:
    """A browser without script in which somebody signs in with Apple; the stand-in provider believes what is typed."""

    def __init__(self, account):
        self.session = requests.Session()
        self.session.headers["Accept"] = "text/html"
        self.fields = {"subject": account.subject, "email": account.email}

    def visit(self, url):
        """Consents; where the browser is sent back to."""
        return self.follow(url, "allow")

    def refuse(self, url):
        return self.follow(url, "deny")

    def follow(self, url, decision):
        """Goes from page to page, as a person would, until it is sent back to the relying party."""
        self.pages, self.redirects = [], []
        home = dict(parse_qsl(urlsplit(url).query))["redirect_uri"]
        answer = self.session.get(url, allow_redirects=False)
        for _ in range(20):
            if answer.is_redirect:
                self.redirects.append(answer.status_code)
                target = urljoin(answer.url, answer.headers["Location"])
                if target.startswith(home):
                    return target
                answer = self.session.get(target, allow_redirects=False)
            else:
                answer.raise_for_status()
                page = Page(answer.text)
                self.pages.append(page.title)
                method, target, form = page.go_on(answer.url, self.fields, decision)
                answer = self.session.request(method, target, data=form, allow_redirects=False)
        raise AssertionError(f"these pages lead nowhere: {self.pages}")


class Page(html.parser.HTMLParser):
    """Title, links and forms of a page."""

    def __init__(self, text):
        super().__init__()
        self.title, self.links, self.forms, self.tag = "", [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tag, values = tag, dict(attributes)
        if tag == "a":
            self.links.append(values.get("href", ""))
        elif tag == "form":
            self.forms.append({"method": values["method"], "action": values["action"], "fields": {}, "buttons": []})
        elif tag == "input" and self.forms:
            self.forms[-1]["fields"][values["name"]] = values.get("value", "")
        elif tag == "button" and values.get("name"):
            self.forms[-1]["buttons"].append((values["name"], values["value"]))

    def handle_data(self, data):
        if self.tag == "title":
            self.title += data.strip()

    def go_on(self, url, fields, decision):
        """What a person does next, as method, address and form: signs in with Apple, or fills in the form and decides."""
        for link in self.links:
            if "/auth/apple/web/start" in link:
                return "GET", urljoin(url, link), None
        form = next((form for form in self.forms if form["buttons"]), self.forms[0])
        pressed = [button for button in form["buttons"] if button[1] in ("continue", decision)]
        filled = {name: fields.get(name, value) for name, value in form["fields"].items()}
        return form["method"].upper(), urljoin(url, form["action"]), filled | dict(pressed)
