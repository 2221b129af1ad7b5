"""Gives one PBX node the phones of agents that have a password, without a reload.

An endpoint is made from `agent-template` in pjsip.conf, so the PBX decides its codecs and the like.
The node keeps it in memory: after a restart it is missing, and made again (docs/asterisk.md).
"""

import asyncio
from collections.abc import Iterator, Sequence

import msgspec
import structlog
from msgspec import Struct

from engine.ari.generated.models import Endpoint
from engine.ari.generated.operations import asterisk, endpoints
from engine.ari.request import Request
from engine.runtime.agents.phone_credentials import CredentialStore, PhoneCredentials
from engine.runtime.base.interfaces import Pbx
from engine.runtime.pbx.snapshot import PbxUnavailable, query
from engine.store.errors import StoreDown

log = structlog.get_logger()
POLL_INTERVAL_S = 5.0
TEMPLATE = "agent-template"
_CLASS = "res_pjsip"
_FORBIDDEN = 403
_NOT_FOUND = 404
# Not copied: what each phone has of its own, and an option that Asterisk lists but does not accept.
_OWN_FIELDS = frozenset({"auth", "aors", "callerid", "identify_by", "stir_shaken"})
_DIGESTS = "supported_algorithms_uas"


class _Field(Struct, frozen=True):
    attribute: str
    value: str


_fields = msgspec.json.Decoder(list[_Field])
_listed = msgspec.json.Decoder(list[Endpoint])


class PhoneProvisioning:
    """Keeps the endpoints of one node as the stored credentials say."""

    def __init__(
        self, node: str, pbx: Pbx, credentials: CredentialStore, interval_s: float = POLL_INTERVAL_S
    ) -> None:
        self._pbx = pbx
        self._credentials = credentials
        self._interval_s = interval_s
        self._done: dict[str, PhoneCredentials] = {}  # what the node was given, by endpoint
        self._log = log.bind(node=node)

    async def run(self) -> None:
        """Provide the node with phones until cancelled."""
        while True:
            try:
                await self.provide()
            except (PbxUnavailable, StoreDown, msgspec.DecodeError) as error:
                self._log.debug("phones not provided", error=str(error))
            await asyncio.sleep(self._interval_s)

    async def provide(self) -> None:
        """Make, change and delete what differs; raises PbxUnavailable and StoreDown."""
        wanted = await self._credentials.all()
        if not wanted:
            return
        found = await query(self._pbx, endpoints.list_by_tech("PJSIP"), _listed)
        present = {each.resource for each in found}
        for name, credentials in wanted.items():
            is_right = (name in present) is not credentials.is_removed
            if is_right and self._done.get(name) == credentials:
                continue
            try:
                if credentials.is_removed:
                    await self._delete(name)
                else:
                    await self._make(name, credentials, is_new=name not in present)
            except PbxUnavailable as error:  # the others may succeed
                self._log.warning("phone not provided", phone=name, error=str(error))
            else:
                self._done[name] = credentials

    async def _make(self, name: str, credentials: PhoneCredentials, *, is_new: bool) -> None:
        digests = await self._template("auth")
        await self._pbx.ask(
            asterisk.delete_object(_CLASS, "auth", name)
        )  # a change would merge them
        if not await self._put("auth", name, [*_auth(name, credentials), *_digests(digests)]):
            self._log.warning("phone is configured in pjsip.conf: its password stays", phone=name)
            return
        if not is_new:
            self._log.info("phone has a new password", phone=name)
            return
        await self._put("aor", name, _copied(await self._template("aor")))
        shown = "".join(each for each in credentials.name if each not in '"\\<>') or name
        own = [("auth", name), ("aors", name), ("identify_by", "username")]
        own.append(("callerid", f'"{shown}" <{name}>'))
        await self._put("endpoint", name, [*_copied(await self._template("endpoint")), *own])
        self._log.info("phone made", phone=name)

    async def _delete(self, name: str) -> None:
        for kind in ("endpoint", "aor", "auth"):
            reply = await self._pbx.ask(asterisk.delete_object(_CLASS, kind, name))
            if not reply.ok and reply.status not in {_FORBIDDEN, _NOT_FOUND}:
                raise PbxUnavailable(f"delete of {kind} {name}: status {reply.status}")

    async def _template(self, kind: str) -> list[_Field]:
        return await query(self._pbx, asterisk.get_object(_CLASS, kind, TEMPLATE), _fields)

    async def _put(self, kind: str, name: str, fields: Sequence[tuple[str, str]]) -> bool:
        """Make or change an object; returns False if a file configures it."""
        reply = await self._pbx.ask(_put_request(kind, name, fields))
        if reply.status == _FORBIDDEN:
            return False
        if not reply.ok:
            raise PbxUnavailable(f"{kind} {name}: status {reply.status}")
        return True


def _put_request(kind: str, name: str, fields: Sequence[tuple[str, str]]) -> Request:
    given = [{"attribute": attribute, "value": value} for attribute, value in fields]
    return asterisk.update_object(_CLASS, kind, name, fields=given)


def _auth(name: str, credentials: PhoneCredentials) -> Iterator[tuple[str, str]]:
    yield "auth_type", "digest"
    yield "username", name
    yield "password_digest", f"MD5:{credentials.md5}"
    yield "password_digest", f"SHA-256:{credentials.sha256}"


def _digests(template: Sequence[_Field]) -> Iterator[tuple[str, str]]:
    return ((each.attribute, each.value) for each in template if each.attribute == _DIGESTS)


def _copied(template: Sequence[_Field]) -> list[tuple[str, str]]:
    """Return the template's fields as Asterisk accepts them."""
    return [
        _accepted(each) for each in template if each.value and each.attribute not in _OWN_FIELDS
    ]


def _accepted(field: _Field) -> tuple[str, str]:
    """Return a field in the form that Asterisk reads, which differs from the one that it shows."""
    if field.attribute == "allow":
        codecs = field.value.strip("()").replace("|", ",")
        return "allow", f"!all,{codecs}"
    if field.attribute.endswith("()"):  # a variable of its channels
        return "set_var", f"{field.attribute}={field.value}"
    return field.attribute, field.value
