"""An SMTP server that keeps what it is sent: aiosmtpd on a loopback port of its own.

Writes a line with the port to standard output, and then a line of JSON for each message.
"""

import argparse
import asyncio
import json
import ssl

from aiosmtpd.smtp import SMTP, AuthResult


class Handler:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments

    async def reply(self, step: str, otherwise: str) -> str:
        if self.arguments.silent_at == step:
            await asyncio.sleep(3600)
        return self.arguments.reply if self.arguments.refuse_at == step else otherwise

    async def handle_MAIL(self, server, session, envelope, address, options) -> str:
        reply = await self.reply("MAIL", "250 OK")
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return reply

    async def handle_RCPT(self, server, session, envelope, address, options) -> str:
        reply = await self.reply("RCPT", "250 OK")
        if reply.startswith("250"):
            envelope.rcpt_tos.append(address)
        return reply

    async def handle_DATA(self, server, session, envelope) -> str:
        reply = await self.reply("DATA", "250 OK")
        message = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "options": envelope.mail_options,
            "greeting": session.host_name,
            "tls": server.transport.get_extra_info("sslcontext") is not None or session.ssl is not None,
            "user": session.auth_data.login.decode() if session.authenticated else None,
            "content": envelope.original_content.decode(),
        }
        print(json.dumps(message), flush=True)
        return reply


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tls", choices=["none", "starttls", "implicit"], default="none")
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    parser.add_argument("--user")
    parser.add_argument("--password")
    parser.add_argument("--refuse-at", choices=["MAIL", "RCPT", "DATA"])
    parser.add_argument("--reply", default="550 5.1.1 nobody@example.com is unknown here")
    parser.add_argument("--silent-at", choices=["greeting", "MAIL", "RCPT", "DATA"])
    arguments = parser.parse_args()

    context = None
    if arguments.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(arguments.certificate, arguments.key)

    def authenticate(server, session, envelope, mechanism, data) -> AuthResult:
        good = (data.login.decode(), data.password.decode()) == (arguments.user, arguments.password)
        return AuthResult(success=good, handled=False, auth_data=data)

    def make() -> asyncio.Protocol:
        if arguments.silent_at == "greeting":
            return asyncio.Protocol()
        return SMTP(
            Handler(arguments),
            hostname="mail.example",
            enable_SMTPUTF8=True,
            tls_context=context if arguments.tls == "starttls" else None,
            require_starttls=arguments.tls == "starttls",
            authenticator=authenticate,
            auth_required=arguments.user is not None,
            auth_require_tls=arguments.tls == "starttls",
        )

    async def serve() -> None:
        implicit = context if arguments.tls == "implicit" else None
        server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0, ssl=implicit)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(serve())


main()
