"""What schemathesis cannot know: credentials, values that exist, and what every answer has."""

import ast
import threading
import zlib
from typing import Any

import requests
import schemathesis

import credentials
from credentials import PEOPLE

credentials.furnish()

parse, parsing = ast.parse, threading.Lock()


def parse_alone(*arguments: Any, **options: Any) -> ast.AST:
    """Hypothesis parses its own sources. In Debian's Python 3.11 one depth is counted for all threads that do, and two at once end
    with a SystemError (https://github.com/python/cpython/issues/106905)."""
    with parsing:
        return parse(*arguments, **options)


ast.parse = parse_alone


@schemathesis.auth(refresh_interval=None)
class Authorization:
    """The Authorization header for the operation's first security scheme."""

    def get(self, case: schemathesis.Case, context: schemathesis.AuthContext) -> str | tuple[str, str] | None:
        operation = context.operation.definition.raw
        # Who gets tokens here is a public client, which names itself in the form (`real_values`).
        if not operation["security"] or operation["operationId"] == "issueTokens":
            return None
        [(scheme, roles)] = operation["security"][0].items()
        if scheme in ("webSession", "administratorSession"):
            # Only a person at a browser has one, which Tests/Browser drives.
            return None
        if scheme == "client":
            return credentials.CONFIDENTIAL_CLIENT
        return credentials.bearer(scheme, roles, operation["operationId"])

    def set(self, case: schemathesis.Case, data: str | tuple[str, str], context: schemathesis.AuthContext) -> None:
        if isinstance(data, tuple):
            request = requests.Request("GET", credentials.URL, auth=data).prepare()
            case.headers["Authorization"] = request.headers["Authorization"]
        else:
            case.headers["Authorization"] = f"Bearer {data}"


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict[str, Any]) -> None:
    """Puts values that exist into three of four valid requests, so that they get past the look-up."""
    if not case.meta.generation.mode.is_positive:
        return
    if isinstance(case.body, dict) and case.headers.get("Authorization", "").startswith("Basic"):
        # By Basic, or in the form, never both.
        case.body.pop("client_id", None)
        case.body.pop("client_secret", None)
    if checksum(case) % 4 == 0:
        return
    with PEOPLE.lock:
        for name, value in real_values(case).items():
            if name == "cookies":
                case.cookies.update(value)
            elif name == "file":
                case.body = value
            elif name in case.path_parameters:
                case.path_parameters[name] = value
            elif isinstance(case.body, dict):
                case.body[name] = value
            else:
                case.query[name] = value


def real_values(case: schemathesis.Case) -> dict[str, Any]:
    """Path, query and body members of an operation that name what exists; `cookies`, or a `file` for the body."""
    body = case.body if isinstance(case.body, dict) else {}
    match case.operation.definition.raw["operationId"]:
        case "startAuthorization" | "receiveAuthorization" | "previewAuthorization" | "authorizeNatively":
            return {"client_id": credentials.CLIENT_ID, "redirect_uri": credentials.CALLBACK, "scope": "openid email"}
        case "disconnectApp":
            return {"client_id": credentials.CLIENT_ID}
        case "authorizeDevice":
            return {"scope": "openid"}
        case "issueTokens":
            return real_grant(body.get("grant_type"))
        case "introspectToken":
            return {"token": PEOPLE.confidential_token}
        case "showSub":
            return {"sub": str(PEOPLE.user["user"]["id"])} if PEOPLE.confidential_token else {}
        case "startSession" | "startSessionByAlias" | "linkIdentity":
            return {"provider": "apple"} | PEOPLE.identities[checksum(case) % len(PEOPLE.identities)]
        case "receiveAppleNotification":
            return {"payload": credentials.notification()}
        case "swapAnonymousAccount":
            case.body.pop("swap_ticket", None)
            return {"provider": "apple"} | PEOPLE.identities[0]
        case "mergeAccounts":
            return {"target_session_token": credentials.merge_token()}
        case "revokeAgent":
            return {"id": credentials.agent(PEOPLE.pak)["id"]}
        case "showAgentApproval" | "decideAgentApproval" | "pollApproval" | "cancelApproval":
            return {"id": credentials.approval(PEOPLE.agent)["auth_req_id"]}
        case "decideDevice":
            return {"user_code": credentials.device_request()["user_code"]}
        case "showLogin" | "showConsent" | "startProviderSignIn":
            cookies, handle = credentials.visit()
            return {"request": handle, "cookies": cookies}
        case "showApplication" | "updateApplication" | "rotateClientSecret" | "addWebhookKey":
            return {"client_id": PEOPLE.application}
        case "testWebhook" | "listWebhookDeliveries" | "replayWebhookEvents" | "enableWebhook":
            return {"client_id": PEOPLE.application_with_webhook}
        case "readUser":
            return {"id": PEOPLE.administrator["user"]["id"]}
        case "readMerge":
            return {"id": credentials.merge()}
        case "showEvent":
            return {"id": credentials.first("/v1/events", "events")}
        case "showAppUser":
            return {"id": credentials.first("/v1/app-users", "users")}
        case "listUsersOfApp":
            return {"id": credentials.first("/v1/apps", "apps")}
        case "showAttachmentUsage" | "listFeedbackOfProject":
            return {"id": credentials.PROJECT_ID}
        case "uploadAttachment":
            return {"id": credentials.reserve(), "file": credentials.FILE.decode()}
        case "showAttachment" | "deleteAttachment":
            return {"id": credentials.upload()["attachment_id"]}
        case "downloadAttachment":
            return {"t": credentials.upload()["download_url"].partition("?t=")[2]}
        case "submitAttribution":
            # Without it the ad network is asked, which tests of its own do.
            return {"dev_mock": "attributed"}
        case "ingestEvents" | "submitFeedback" | "dismissQuestionnaires" | "respondToQuestionnaire" | "showQuestionnaire":
            return {"bundle_id": credentials.BUNDLE_ID}
    return {}


def real_grant(grant_type: str | None) -> dict[str, str]:
    match grant_type:
        case "authorization_code":
            return credentials.code(PEOPLE.pak, credentials.CLIENT_ID)
        case "refresh_token":
            token = credentials.tokens(PEOPLE.pak)["refresh_token"]
            return {"refresh_token": token, "client_id": credentials.CLIENT_ID}
    return {"device_code": credentials.device_request()["device_code"], "client_id": credentials.CLIENT_ID}


def checksum(case: schemathesis.Case) -> int:
    """A number that is the same when the same request is sent again."""
    body = case.body if isinstance(case.body, (dict, str)) else None
    return zlib.crc32(repr((case.path_parameters, case.query, body)).encode())


@schemathesis.check
def every_answer_names_its_request(
    context: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> None:
    if "Operation" in case.operation.tags:
        return
    [request_id] = response.headers["x-request-id"]
    assert len(request_id) == 32, f"X-Request-Id is {request_id!r}"
    assert response.headers["x-logi-request-id"] == [request_id], "X-Logi-Request-Id is another"
    assert "cache-control" in response.headers, "there is no Cache-Control"
