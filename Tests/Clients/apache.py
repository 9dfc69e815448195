"""A private Apache whose pages mod_auth_openidc protects, as people set it up. Of the provider it knows the discovery document."""

import os
import pathlib
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import requests

import provider

CONFIGURATION = """
ServerName localhost
ServerRoot {folder}
DefaultRuntimeDir {folder}
PidFile {folder}/apache.pid
ErrorLog {folder}/error.log
LogLevel warn auth_openidc:debug
Listen 127.0.0.1:{port}
{user}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authn_core_module {modules}/mod_authn_core.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule authz_user_module {modules}/mod_authz_user.so
LoadModule headers_module {modules}/mod_headers.so
LoadModule status_module {modules}/mod_status.so
LoadModule auth_openidc_module {modules}/mod_auth_openidc.so

OIDCProviderMetadataURL {discovery}
OIDCClientID {client_id}
OIDCClientSecret {client_secret}
OIDCRedirectURI {url}/callback
OIDCCryptoPassphrase {passphrase}
OIDCScope "openid email"
OIDCPKCEMethod S256
OIDCRemoteUserClaim sub
# Browsers keep one jar for all ports of a host.
OIDCCookie session_{port}
OIDCStateCookiePrefix state_{port}_

# A page that exists without a file.
<Location />
    SetHandler server-status
</Location>
<Location /private>
    AuthType openid-connect
    Require valid-user
    Header always set X-User "expr=%{{REMOTE_USER}}"
</Location>
<Location /callback>
    AuthType openid-connect
    Require valid-user
</Location>
"""


class Apache:
    """A relying party on this machine."""

    MODULES = "/usr/lib/apache2/modules"

    def __init__(self):
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self.private, self.goodbye = self.url + "/private", self.url + "/goodbye"
        application = provider.register(
            "confidential", "--first-party", "--backchannel-logout-uri", f"http://127.0.0.1:{self.port}/callback?logout=backchannel",
            "--post-logout-redirect-uri", self.goodbye, redirect_uri=self.url + "/callback")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="apache-"))
        user = ""
        if os.geteuid() == 0:
            # Apache refuses to serve as root.
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            user = "User nobody\nGroup nogroup"
        configuration = self.folder / "apache.conf"
        configuration.write_text(CONFIGURATION.format(
            folder=self.folder, port=self.port, url=self.url, user=user, modules=self.MODULES,
            discovery=provider.DISCOVERY, client_id=application["client_id"],
            client_secret=application["client_secret"], passphrase=secrets.token_hex(16)))
        self.process = subprocess.Popen(["/usr/sbin/apache2", "-f", configuration, "-D", "FOREGROUND"])
        self.wait()

    def wait(self):
        until = time.monotonic() + 20
        while True:
            try:
                requests.get(self.goodbye)
                return
            except requests.ConnectionError:
                if self.process.poll() is not None or time.monotonic() > until:
                    raise AssertionError("Apache does not serve:\n" + self.log) from None
                time.sleep(0.05)

    @property
    def log(self):
        file = self.folder / "error.log"
        return file.read_text() if file.exists() else ""

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)
        shutil.rmtree(self.folder)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
