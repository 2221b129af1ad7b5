"""A simulated messaging platform: its cloud API as its public documentation describes it.

async with SimulatedMsgapp() as platform:
    platform.settings("acme")                  # settings of the REST layer for it
    platform.business("acme").put("1", name="hello", status="PAUSED")
    platform.next_answers(rate_limited({"Retry-After": "7"}))     # one fault per request, in turn
"""

import itertools
import json
from collections.abc import Iterable
from typing import Any

from aiohttp import web
from msgspec import Struct

from api.messaging_platform.settings import MsgappSettings
from tests.harness.customers.msgapp_faults import Fault, error
from tests.harness.customers.msgapp_names import (
    APP,
    PRODUCT,
    SECRET,
    VERIFY,
    VERSION,
    business_id,
    phone_id,
    token,
)
from tests.harness.customers.msgapp_templates import PlatformTemplates, placeholders
from tests.harness.servers.web_server import WebServer
from tests.harness.until import until

UNKNOWN_SUBCODE = 33


class PlatformRequest(Struct, frozen=True):
    """One received request."""

    method: str
    path: str
    query: dict[str, str]
    body: Any


class SimulatedMsgapp(WebServer):
    """Each account has its own business account with one phone number and one token."""

    max_body_bytes = 110_000_000

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[PlatformRequest] = []
        self.uploads: dict[str, dict[str, str]] = {}
        self.files: dict[str, bytes] = {}
        self.messages: list[dict[str, Any]] = []
        self._businesses: dict[str, PlatformTemplates] = {}
        self._faults: list[Fault] = []
        self._ids = itertools.count(1689556908129832)

    def forget(self) -> None:
        """Forget what was received, except templates."""
        for each in (self.requests, self.uploads, self.files, self.messages):
            each.clear()

    def business(self, account: str) -> PlatformTemplates:
        """Return the templates of an account."""
        return self._businesses.setdefault(account, PlatformTemplates())

    def settings(self, *accounts: str, **more: Any) -> MsgappSettings:
        """Return the operator settings for these accounts."""
        known = {
            each: {"business_id": business_id(each), "token": token(each)} for each in accounts
        }
        values = {
            "url": self.url(),
            "version": VERSION,
            "product": PRODUCT,
            "app_id": APP,
            "app_secret": SECRET,
            "verify_token": VERIFY,
            "accounts": known,
        }
        return MsgappSettings.model_validate({**values, **more})

    def next_answers(self, *faults: Fault) -> None:
        """Apply one fault to each of the next requests."""
        self._faults += faults

    def requests_to(self, method: str, end: str) -> list[PlatformRequest]:
        """Return the requests of a method whose path ends with `end`."""
        return [each for each in self.requests if each.method == method and each.path.endswith(end)]

    async def wait_for_request(self, method: str, end: str) -> None:
        """Wait until such a request has arrived."""
        await until(
            lambda: bool(self.requests_to(method, end)), every_s=0.005, what=f"{method} {end}"
        )

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Serve every path and method."""
        return [web.route("*", "/{path:.*}", self._answer)]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        if self._faults:
            return await self._faults.pop(0)(request, self._serve)
        return await self._serve(request)

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        is_json = request.content_type == "application/json"
        body = json.loads(raw) if is_json else raw
        self.requests.append(
            PlatformRequest(request.method, request.path, dict(request.query), body)
        )
        version, _, path = request.path.lstrip("/").partition("/")
        if version != VERSION:
            return error(400, 2500, "Unknown path components")
        account = _account_of(request)
        if account is None:
            return error(401, 190, "Invalid OAuth access token")
        return self._route(request, account, path, body)

    def _route(
        self, request: web.Request, account: str, path: str, body: Any
    ) -> web.StreamResponse:
        templates, query = self.business(account), dict(request.query)
        match (request.method, path.split("/")):
            case ("GET", [business, "message_templates"]) if business == business_id(account):
                return templates.page(query, str(request.url.with_query(None)))
            case ("POST", [business, "message_templates"]) if business == business_id(account):
                return templates.create(body, str(next(self._ids)))
            case ("DELETE", [business, "message_templates"]) if business == business_id(account):
                return templates.delete(query.get("name", ""), query.get("hsm_id", ""))
            case ("GET", [template]) if template in templates.all:
                return web.json_response(templates.all[template])
            case ("POST", [template]) if template in templates.all:
                return templates.edit(template, body)
            case ("POST", [phone, "messages"]) if phone == phone_id(account):
                return self._send_message(templates, body)
            case ("POST", [app, "uploads"]) if app == APP:
                return self._start_upload(query)
            case ("POST", [upload]) if upload in self.uploads:
                return self._finish_upload(request, upload, body)
            case _:
                text = "Object does not exist, or can't be loaded due to missing permissions"
                return error(400, 100, text, error_subcode=UNKNOWN_SUBCODE)

    def _send_message(self, templates: PlatformTemplates, body: dict[str, Any]) -> web.Response:
        if body.get("messaging_product") != PRODUCT:
            return error(400, 100, "The parameter messaging_product is required.")
        message = body["template"]
        template = templates.find(message["name"], message["language"]["code"])
        if template is None:
            return error(404, 132001, "Template name does not exist in the translation")
        if template["status"] != "APPROVED":
            return error(400, 132015, "Template is paused")
        bodies = [each for each in message.get("components", []) if each["type"] == "body"]
        if sum(len(each["parameters"]) for each in bodies) != placeholders(template):
            return error(400, 132000, "Number of parameters does not match", error_data={
                "messaging_product": PRODUCT, "details": "body: number of localizable_params"
            })  # fmt: skip
        self.messages.append(body)
        sent = {"id": f"wamid.{len(self.messages)}", "message_status": "accepted"}
        contact = {"input": body["to"], "wa_id": body["to"].removeprefix("+")}
        reply = {"messaging_product": PRODUCT, "contacts": [contact], "messages": [sent]}
        return web.json_response(reply)

    def _start_upload(self, query: dict[str, str]) -> web.Response:
        upload = f"upload:{len(self.uploads)}"
        self.uploads[upload] = query
        return web.json_response({"id": f"{upload}?sig=ARZqkGCA"})

    def _finish_upload(self, request: web.Request, upload: str, body: bytes) -> web.Response:
        is_whole = len(body) == int(self.uploads[upload]["file_length"])
        is_valid = request.headers.get("file_offset") == "0" and request.query.get("sig")
        if not (is_valid and is_whole and request.headers["Authorization"].startswith("OAuth ")):
            return error(400, 100, "Invalid parameter")
        self.files[upload] = body
        return web.json_response({"h": f"4::{upload}"})


def _account_of(request: web.Request) -> str | None:
    kind, _, credentials = request.headers.get("Authorization", "").partition(" ")
    is_valid = kind in {"Bearer", "OAuth"} and credentials.startswith(token(""))
    return credentials.removeprefix(token("")) if is_valid else None
