"""The objects of a phone at one PBX node: made, changed and deleted over ARI.

An endpoint is made from a template in pjsip.conf, so the PBX decides its codecs and the like. The
phone of a browser has an auth object for each login, beside its own; Asterisk tries them all.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
import structlog
from msgspec import Struct

from engine.ari.generated.operations import asterisk
from engine.ari.request import Request
from engine.runtime.agents.phone_credentials import PhoneCredentials
from engine.runtime.base.interfaces import Pbx
from engine.runtime.pbx.snapshot import PbxUnavailable, query
from wire.agents import PhoneKind
from wire.decoding.texts import printable

log = structlog.get_logger()
TEMPLATES: dict[PhoneKind, str] = {"sip": "agent-template", "browser": "browser-template"}
_CLASS = "res_pjsip"
_FORBIDDEN = 403
_NOT_FOUND = 404
# Not copied: what each phone has of its own, and an option that Asterisk lists but does not accept.
_OWN_FIELDS = frozenset({"auth", "aors", "callerid", "identify_by", "stir_shaken"})
_DIGEST = "password_digest"
_DIGESTS = "supported_algorithms_uas"
# An endpoint lists its auth objects up to 127 characters only, so a field that has no effect on a
# phone (it gets no MWI) has a checksum of them.
_CHECKSUM = "mwi_from_user"
ADDRESS_RECORD_TRIES = 5
ADDRESSES_GO_S = 0.02
_NOT_SHOWN = dict.fromkeys(map(ord, '"\\<>'))  # they would end the name in a SIP header
_UNFINISHED = "unfinished"  # instead of the checksum, until the phone's registrations have ended


class NoTemplate(PbxUnavailable):
    """The node's pjsip.conf has no template of this kind."""


class _Field(Struct, frozen=True):
    attribute: str
    value: str


_fields = msgspec.json.Decoder(list[_Field])


class PhoneObjects:
    """Methods raise PbxUnavailable unless they say otherwise."""

    def __init__(self, node: str, pbx: Pbx) -> None:
        self._pbx = pbx
        self._templates: dict[tuple[PhoneKind, str], list[_Field]] = {}
        self._log = log.bind(node=node)

    def forget_templates(self) -> None:
        """Read the templates again when they are needed."""
        self._templates = {}

    async def has(self, name: str, credentials: PhoneCredentials) -> bool:
        """Return whether the node has a phone's password and logins, by an engine before this one.

        While they are made again, the phone cannot register.
        """
        if not await self._has_password(name, credentials):
            return False
        return credentials.kind == "sip" or await self.has_logins(name, credentials)

    async def has_logins(self, name: str, credentials: PhoneCredentials) -> bool:
        """Return whether an endpoint accepts the logins of a phone, and no others."""
        shown = await self._shown("endpoint", name)
        return shown.get(_CHECKSUM) == _checksum(_names(name, credentials))

    async def make(
        self,
        name: str,
        credentials: PhoneCredentials,
        *,
        is_new: bool,
        ends_registrations: bool = False,
        former: Sequence[str] = (),
    ) -> None:
        """Make a phone, or give it another password or other logins.

        With `ends_registrations`, those of its former logins end. Until they have, the endpoint is
        marked: an engine that dies or a node that hangs meanwhile leaves the rest to the next try.
        `former` are logins that the node may have, since an endpoint lists the first ones only.
        """
        kind = credentials.kind
        await self._template(kind, "endpoint")  # before anything is changed
        if not is_new and not await self._is_of_kind(name, kind):
            await self.delete(name, former)  # with the registrations of the other kind
            is_new = True
        before: Sequence[str] = ()
        if not is_new and kind == "browser":
            shown = await self._shown("endpoint", name)
            before = _listed(shown)
            ends_registrations = ends_registrations or shown.get(_CHECKSUM) == _UNFINISHED
            if ends_registrations:
                await self._put("endpoint", name, [(_CHECKSUM, _UNFINISHED)])
        if not await self._put_password(name, credentials):
            self._log.warning("phone is configured in pjsip.conf: its password stays", phone=name)
            return
        for login in credentials.logins:
            if login.username not in before:
                await self._put_auth(kind, login.username, login.md5, login.sha256)
        if is_new:
            await self._make_endpoint(name, credentials)
            self._log.info("phone made", phone=name)
        elif kind == "sip":
            self._log.info("phone has a new password", phone=name)
        else:
            accepted = _accepted_logins(name, credentials)
            await self._put("endpoint", name, accepted[:1] if ends_registrations else accepted)
            after = _names(name, credentials)
            left = dict.fromkeys((*before, *former))
            await self.delete_logins(each for each in left if each not in after)
            if ends_registrations:
                await self._drop_registrations(name, kind)
                await self._put("endpoint", name, accepted)

    async def delete(self, name: str, former: Sequence[str] = ()) -> None:
        """Delete a phone, with its password and its logins; `former` as for `make`."""
        usernames = _listed(await self._found("endpoint", name))  # if absent, the rest may be there
        await self._delete_object("endpoint", name)
        await self._delete_object("aor", name)
        for username in dict.fromkeys((name, *usernames, *former)):
            await self._delete_object("auth", username)

    async def delete_logins(self, usernames: Iterable[str]) -> None:
        """Delete logins that no endpoint has any more."""
        for username in usernames:
            await self._delete_object("auth", username)

    async def _has_password(self, name: str, credentials: PhoneCredentials) -> bool:
        shown = await self._found("auth", name)
        expected = {f"MD5:{credentials.md5}", f"SHA-256:{credentials.sha256}"}
        return set(shown.get(_DIGEST, "").split(",")) == expected

    async def _put_password(self, name: str, credentials: PhoneCredentials) -> bool:
        """Put a phone's own auth object; returns False if a file configures it."""
        if credentials.kind == "browser" and await self._has_password(name, credentials):
            return True
        await self._template(credentials.kind, "auth")
        # a change would merge them
        await self._pbx.ask(asterisk.delete_object(_CLASS, "auth", name))
        return await self._put_auth(credentials.kind, name, credentials.md5, credentials.sha256)

    async def _put_auth(self, kind: PhoneKind, username: str, md5: str, sha256: str) -> bool:
        template = await self._template(kind, "auth")
        offered = ((each.attribute, each.value) for each in template if each.attribute == _DIGESTS)
        return await self._put("auth", username, [*_auth(username, md5, sha256), *offered])

    async def _make_endpoint(self, name: str, credentials: PhoneCredentials) -> None:
        kind = credentials.kind
        await self._make_address_record(name, kind)
        shown = printable(credentials.name).translate(_NOT_SHOWN) or name
        own = [
            *_accepted_logins(name, credentials),
            ("aors", name),
            ("identify_by", "username"),
            ("callerid", f'"{shown}" <{name}>'),
        ]
        fields = _copied(await self._template(kind, "endpoint"))
        await self._put("endpoint", name, [*fields, *own])

    async def _drop_registrations(self, name: str, kind: PhoneKind) -> None:
        """End all registrations of a phone, which have no name of a login.

        They end with the AOR, which is made again; calls go on.
        """
        await self._template(kind, "aor")  # before anything is changed
        await self._delete_object("aor", name)
        await self._put_address_record(name, kind)
        self._log.info("registrations of a phone dropped", phone=name)

    async def _make_address_record(self, name: str, kind: PhoneKind) -> None:
        """Make an AOR, unless the node has kept it through a restart: it has registrations."""
        expected = dict(_copied(await self._template(kind, "aor")))
        shown = await self._found("aor", name)
        if expected.items() <= shown.items():
            return
        if shown:
            await self._delete_object("aor", name)
        await self._put_address_record(name, kind)

    async def _put_address_record(self, name: str, kind: PhoneKind) -> None:
        """Put an AOR that keeps no address which was registered: as its own, it never expires."""
        fields = _copied(await self._template(kind, "aor"))
        # Registrations end a moment after their AOR is deleted, and a new one stores them.
        for _ in range(ADDRESS_RECORD_TRIES):
            await self._put("aor", name, fields)
            if not (await self._shown("aor", name)).get("contact"):
                return
            await self._delete_object("aor", name)
            await asyncio.sleep(ADDRESSES_GO_S)
        raise PbxUnavailable(f"aor {name} keeps the addresses of ended registrations")

    async def _is_of_kind(self, name: str, kind: PhoneKind) -> bool:
        """Return whether an endpoint was made of the template of a kind."""
        template = await self._template(kind, "endpoint")
        expected = next((each.value for each in template if each.attribute == "webrtc"), "")
        return (await self._shown("endpoint", name)).get("webrtc", "") == expected

    async def _shown(self, kind: str, name: str) -> dict[str, str]:
        found = await query(self._pbx, asterisk.get_object(_CLASS, kind, name), _fields)
        return {each.attribute: each.value for each in found}

    async def _found(self, kind: str, name: str) -> dict[str, str]:
        """Return the fields of an object; none if it is absent."""
        try:
            return await self._shown(kind, name)
        except PbxUnavailable:
            again = await self._pbx.ask(asterisk.get_object(_CLASS, kind, name))
            if again.status != _NOT_FOUND:
                raise
            return {}

    async def _template(self, phone: PhoneKind, kind: str) -> list[_Field]:
        key = (phone, kind)
        if key not in self._templates:
            request = asterisk.get_object(_CLASS, kind, TEMPLATES[phone])
            reply = await self._pbx.ask(request)
            if reply.status == _NOT_FOUND:
                raise NoTemplate(f"no {TEMPLATES[phone]} in pjsip.conf")
            self._templates[key] = await query(self._pbx, request, _fields)
        return self._templates[key]

    async def _put(self, kind: str, name: str, fields: Sequence[tuple[str, str]]) -> bool:
        """Make or change an object; returns False if a file configures it."""
        reply = await self._pbx.ask(_put_request(kind, name, fields))
        if reply.status == _FORBIDDEN:
            return False
        if not reply.ok:
            raise PbxUnavailable(f"{kind} {name}: status {reply.status}")
        return True

    async def _delete_object(self, kind: str, name: str) -> None:
        reply = await self._pbx.ask(asterisk.delete_object(_CLASS, kind, name))
        if not reply.ok and reply.status not in {_FORBIDDEN, _NOT_FOUND}:
            raise PbxUnavailable(f"delete of {kind} {name}: status {reply.status}")


def _listed(shown: Mapping[str, str]) -> Sequence[str]:
    """Return the auth objects of an endpoint, its own first; without the last ones of many."""
    return tuple(each for each in shown.get("auth", "").split(",") if each)


def _names(name: str, credentials: PhoneCredentials) -> tuple[str, ...]:
    """Return the auth objects that a phone's endpoint has."""
    return (name, *(each.username for each in credentials.logins))


def _accepted_logins(name: str, credentials: PhoneCredentials) -> list[tuple[str, str]]:
    """Return the fields of an endpoint that name its auth objects."""
    names = _names(name, credentials)
    checksum = [(_CHECKSUM, _checksum(names))] if credentials.kind == "browser" else []
    return [("auth", ",".join(names)), *checksum]


def _checksum(names: Iterable[str]) -> str:
    return hashlib.sha256(",".join(names).encode()).hexdigest()[:16]


def _auth(username: str, md5: str, sha256: str) -> Iterator[tuple[str, str]]:
    yield "auth_type", "digest"
    yield "username", username
    yield _DIGEST, f"MD5:{md5}"
    yield _DIGEST, f"SHA-256:{sha256}"


def _put_request(kind: str, name: str, fields: Sequence[tuple[str, str]]) -> Request:
    given = [{"attribute": attribute, "value": value} for attribute, value in fields]
    return asterisk.update_object(_CLASS, kind, name, fields=given)


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
