"""Gives one PBX node the phones of agents that have a password, without a reload.

An endpoint is made from `agent-template` in pjsip.conf, so the PBX decides its codecs and the like.
The node keeps it in memory: after a restart it is missing, and made again (docs/asterisk.md).
"""

import asyncio
from collections.abc import Iterator, Sequence

import msgspec
import structlog
from msgspec import Struct

from engine.ari.generated.models import AsteriskInfo, Endpoint
from engine.ari.generated.operations import asterisk, endpoints
from engine.ari.request import Request
from engine.runtime.agents.known_phones import KnownPhones
from engine.runtime.agents.phone_credentials import CredentialStore, PhoneCredentials
from engine.runtime.base.interfaces import Pbx
from engine.runtime.pbx.snapshot import PbxUnavailable, query
from engine.store.errors import StoreDown
from wire.agents import TECHNOLOGY

log = structlog.get_logger()
POLL_INTERVAL_S = 2.0
COMPARED_EVERY = 30  # polls
CONCURRENCY = 4  # phones that are made at the same time: more would delay calls
BATCH_SIZE = 200  # phones between two reads of changes
TEMPLATE = "agent-template"
_CLASS = "res_pjsip"
_FORBIDDEN = 403
_NOT_FOUND = 404
# Not copied: what each phone has of its own, and an option that Asterisk lists but does not accept.
_OWN_FIELDS = frozenset({"auth", "aors", "callerid", "identify_by", "stir_shaken"})
_DIGEST = "password_digest"
_DIGESTS = "supported_algorithms_uas"


class _Field(Struct, frozen=True):
    attribute: str
    value: str


_fields = msgspec.json.Decoder(list[_Field])
_listed = msgspec.json.Decoder(list[Endpoint])
_info = msgspec.json.Decoder(AsteriskInfo)


class PhoneProvisioning:
    """Keeps the endpoints of one node as the stored credentials say.

    It applies what has changed, and compares all phones with the node's endpoints when the node has
    started, and at intervals.
    """

    def __init__(
        self, node: str, pbx: Pbx, credentials: CredentialStore, interval_s: float = POLL_INTERVAL_S
    ) -> None:
        self._pbx = pbx
        self._known = KnownPhones(credentials)
        self._interval_s = interval_s
        self._done: dict[str, PhoneCredentials] = {}  # what the node was given, by endpoint
        self._pending: dict[str, None] = {}  # names to compare with the node, in order
        self._started = ""  # when the node has, according to itself
        self._rounds = 0  # until all phones are compared again
        self._templates: dict[str, list[_Field]] = {}
        self._log = log.bind(node=node)

    async def run(self) -> None:
        """Provide the node with phones until cancelled."""
        self._rounds = 0  # another engine may have provided it meanwhile
        while True:
            is_complete = True
            try:
                is_complete = await self.provide()
            except (PbxUnavailable, StoreDown, msgspec.DecodeError) as error:
                self._log.debug("phones not provided", error=str(error))
            await asyncio.sleep(self._interval_s if is_complete else 0)

    async def provide(self) -> bool:
        """Make, change and delete what differs; raises PbxUnavailable and StoreDown.

        Returns False if there is more to do at once: changes are read again in between.
        """
        changed = await self._known.update()
        self._pending = {**dict.fromkeys(sorted(changed)), **self._pending}
        if not self._known.phones and not self._pending:
            return True
        await self._compare_all_if_due()
        if not self._pending:
            return True
        found = await query(self._pbx, endpoints.list_by_tech(TECHNOLOGY), _listed)
        present = {each.resource for each in found}
        self._templates = {}
        batch = list(self._pending)[:BATCH_SIZE]
        gate = asyncio.Semaphore(CONCURRENCY)
        results = await asyncio.gather(
            *(self._provide_in_turn(gate, name, name in present) for name in batch)
        )
        failed = [name for name, is_done in zip(batch, results, strict=True) if not is_done]
        for name in batch:
            del self._pending[name]
        is_complete = not self._pending or bool(failed)
        self._pending |= dict.fromkeys(failed)
        return is_complete

    async def _compare_all_if_due(self) -> None:
        """Compare all phones with the node, also if it has lost them by a restart."""
        info = await query(self._pbx, asterisk.get_info(only=["status"]), _info)
        started = info.status.startup_time if info.status else ""
        self._rounds -= 1
        if self._rounds < 0 or started != self._started:
            self._pending |= dict.fromkeys(self._known.phones)
            self._started, self._rounds = started, COMPARED_EVERY

    async def _provide_in_turn(self, gate: asyncio.Semaphore, name: str, is_present: bool) -> bool:
        async with gate:
            return await self._provide(name, is_present)

    async def _provide(self, name: str, is_present: bool) -> bool:
        """Make, change or delete a phone; returns whether the node accepted it."""
        wanted = self._known.phones.get(name)
        if is_present is (wanted is not None) and self._done.get(name) == wanted:
            return True
        try:
            if wanted is None:
                await self._delete(name)
                self._done.pop(name, None)
            elif is_present and await self._has(name, wanted):
                self._done[name] = wanted
            else:
                await self._make(name, wanted, is_new=not is_present)
                self._done[name] = wanted
        except PbxUnavailable as error:  # the others may succeed
            self._log.warning("phone not provided", phone=name, error=str(error))
            return False
        return True

    async def _has(self, name: str, credentials: PhoneCredentials) -> bool:
        """Return whether the node has a phone's password already, by an engine before this one.

        While it is made again, the phone cannot register.
        """
        try:
            fields = await query(self._pbx, asterisk.get_object(_CLASS, "auth", name), _fields)
        except PbxUnavailable:
            return False
        shown = {each.attribute: each.value for each in fields}
        digests = {value for field, value in _auth(name, credentials) if field == _DIGEST}
        return set(shown.get(_DIGEST, "").split(",")) == digests

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
        shown = "".join(filter(_may_be_shown, credentials.name)) or name
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
        if kind not in self._templates:
            request = asterisk.get_object(_CLASS, kind, TEMPLATE)
            self._templates[kind] = await query(self._pbx, request, _fields)
        return self._templates[kind]

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
    yield _DIGEST, f"MD5:{credentials.md5}"
    yield _DIGEST, f"SHA-256:{credentials.sha256}"


def _digests(template: Sequence[_Field]) -> Iterator[tuple[str, str]]:
    return ((each.attribute, each.value) for each in template if each.attribute == _DIGESTS)


def _copied(template: Sequence[_Field]) -> list[tuple[str, str]]:
    """Return the template's fields as Asterisk accepts them."""
    return [
        _accepted(each) for each in template if each.value and each.attribute not in _OWN_FIELDS
    ]


def _may_be_shown(char: str) -> bool:
    """Return whether a caller's name may have it: a line break would begin a SIP header."""
    return char.isprintable() and char not in '"\\<>'


def _accepted(field: _Field) -> tuple[str, str]:
    """Return a field in the form that Asterisk reads, which differs from the one that it shows."""
    if field.attribute == "allow":
        codecs = field.value.strip("()").replace("|", ",")
        return "allow", f"!all,{codecs}"
    if field.attribute.endswith("()"):  # a variable of its channels
        return "set_var", f"{field.attribute}={field.value}"
    return field.attribute, field.value
