"""A web application as people write them with Authlib and Flask. Of the provider it knows the discovery document."""

import secrets

import flask
from authlib.integrations.flask_client import OAuth
from authlib.integrations.requests_client import OAuth2Session

import provider


class RelyingParty:
    REDIRECT_URI = "https://rp.example/callback?from=merganser"
    SCOPE = "openid profile:basic email"

    def __init__(self, application, method):
        """
        application: what the registration answered.
        method: how the client authenticates; one of OAuth's names.
        """
        self.client_id = application["client_id"]
        self.client_secret = application.get("client_secret")
        self.method = method
        app = flask.Flask("relying party")
        app.secret_key = secrets.token_bytes()
        # Errors reach the test.
        app.testing = True
        self.client = OAuth(app).register(
            "merganser", client_id=self.client_id, client_secret=self.client_secret,
            server_metadata_url=provider.DISCOVERY,
            client_kwargs={
                "scope": self.SCOPE, "code_challenge_method": "S256", "token_endpoint_auth_method": method})

        @app.get("/login")
        def login():
            return self.client.authorize_redirect(self.REDIRECT_URI, **flask.request.args)

        @app.get("/callback")
        def callback():
            return dict(self.client.authorize_access_token(claims_options=self.claims_options))

        self.browser = app.test_client()

    @property
    def claims_options(self):
        return {
            "iss": {"essential": True, "value": self.metadata["issuer"]},
            "aud": {"essential": True, "value": self.client_id},
        }

    @property
    def metadata(self):
        return self.client.load_server_metadata()

    def begin(self, **parameters):
        """Somebody presses "sign in"; the authorize URL."""
        return self.browser.get("/login", query_string=parameters).location

    def finish(self, url):
        """The browser comes back; the token answer, in `userinfo` the claims of its id_token, which Authlib verified."""
        assert url.startswith(self.REDIRECT_URI), url
        return self.browser.get(url.removeprefix("https://rp.example")).json

    def sign_in(self, person, **parameters):
        return self.finish(person.visit(self.begin(**parameters)))

    def verify(self, token):
        """The claims of an id_token that no sign-in brought."""
        return self.client.parse_id_token(token, nonce=None, claims_options=self.claims_options)

    def session(self, token=None, **changes):
        """Authlib's client without the web application, for the other endpoints."""
        options = {
            "client_id": self.client_id, "client_secret": self.client_secret, "token_endpoint_auth_method": self.method,
            "revocation_endpoint_auth_method": self.method, "redirect_uri": self.REDIRECT_URI, "token": token,
        }
        return OAuth2Session(**options | changes)

    def userinfo(self, token):
        return self.session(token).get(self.metadata["userinfo_endpoint"])

    def refresh(self, token, **changes):
        session = self.session(**changes)
        return session.refresh_token(self.metadata["token_endpoint"], refresh_token=token["refresh_token"])

    def revoke(self, token, name):
        return self.session().revoke_token(
            self.metadata["revocation_endpoint"], token=token[name], token_type_hint=name)

    def introspect(self, token, name):
        return self.session().introspect_token(
            self.metadata["introspection_endpoint"], token=token[name], token_type_hint=name)
