"""SIP requests whose text would be events of the manager interface, if anything believed them.

Asterisk writes it there with its line breaks. A long header passes the rules that refuse such
requests (docs/asterisk.md): so those without an empty line, which would end a request of TCP, are
sent over TCP, too.
"""

import asyncio
import secrets
from collections.abc import Iterator

from msgspec.structs import replace

from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.digest_login import Login, authorization, register_request, try_login
from tests.harness.until import MAX_WAIT_S

COMMAND = "x\n\nAction: DBPut\nFamily: forged\nKey: a\nVal: b\n"
LONG = "y" * 5_000  # the header rules do not match what is longer than 4 KB
_LONG = f'"{LONG}" '
_LINE = "\r\n"


def forgeries(phone: str, carrier: str, target: str) -> Iterator[str]:
    """Yield events, as lines, with which a phone would have its calls sent to a carrier."""
    login = ("Service: PJSIP", f"RemoteAddress: IPV4/UDP/{carrier.replace(':', '/')}")
    contact = (f"URI: sip:{target}@{carrier}", "ContactStatus: Reachable", f"AOR: {phone}")
    trunk = ("URI: q", "ContactStatus: Unreachable", "AOR: trunk", "EndpointName: trunk")
    for event in (
        ("Event: Shutdown", "Shutdown: Cleanly"),
        ("Event: ContactStatus", *trunk),
        ("Event: SuccessfulAuth", f"AccountID: {phone}", *login),
        ("Event: ContactStatus", *contact, f"EndpointName: {phone}"),
        ("Event: ContactStatus", *trunk[:3], f"EndpointName: {COMMAND}"),
        ("Event: SuccessfulAuth", f"AccountID: {COMMAND}", *login),
    ):  # fmt: skip
        yield f"{_LINE}{_LINE}{_LINE.join(event)}{_LINE}{_LINE}X: "


def forgeries_within(phone: str, carrier: str) -> Iterator[str]:
    """Yield fields that would replace those of the real event."""
    address = f"RemoteAddress: IPV4/UDP/{carrier.replace(':', '/')}"
    within = ("event: SuccessfulAuth", "Service: PJSIP", f"AccountID: {phone}", address)
    yield f"{_LINE}{_LINE.join(within)}{_LINE}X: "
    yield f"{_LINE}ContactStatus: x{_LINE}X: "


def via_of(forgery: str, name: str = "") -> str:
    """Return the host and port of a Via header, whose host is the forgery."""
    return f"[{name}{forgery}]:5060"


def contact_of(forgery: str, name: str = "") -> str:
    """Return the end of a Contact header with a second contact, whose host is the forgery."""
    return f">;expires=0, {name}<sip:x@[a{forgery}]:5060"


async def send_forgeries(pbx: Pbx, login: Login, carrier: str, target: str) -> list[int]:
    """Send all; return the status of each final response."""
    found = [await _send_stranger(pbx)]
    within = [*forgeries_within(login.agent, carrier)]
    short = [*forgeries(login.agent, carrier, target), *within]
    for each in short:
        found.append(await try_login(pbx, replace(login, parameters=contact_of(each))))
        found.append(await try_login(pbx, replace(login, via=via_of(each))))
    longer = [via_of(each, LONG) for each in short]
    found += [await try_login(pbx, replace(login, via=each)) for each in longer]
    # last: a call to the address of a connection that has ended fails at once
    longer = [contact_of(each, _LONG) for each in within]
    return found + [await _register(pbx, replace(login, parameters=each)) for each in longer]


async def _send_stranger(pbx: Pbx) -> int:
    """Register as somebody without a login, whose name would be an event."""
    return await try_login(
        pbx, Login("x%0d%0a%0d%0aEvent%3a%20Shutdown", "wrong", to="1001", username="x")
    )


async def _register(pbx: Pbx, login: Login) -> int:
    """Register over TCP; return the status of the final response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", pbx.sip_port)
    host, port = writer.get_extra_info("sockname")[:2]
    own, call_id, answer, status = f"{host}:{port}", secrets.token_hex(8), "", 0
    try:
        for _ in range(2):
            text = register_request(
                pbx, login, f"TCP {own}", own + login.parameters, call_id, answer
            )
            writer.write(text.encode())
            async with asyncio.timeout(MAX_WAIT_S):
                reply = (await reader.readuntil(b"\r\n\r\n")).decode()
            status = int(reply.split(" ", 2)[1])
            if status != 401 or not (answer := authorization(reply, pbx, login)):
                break
    finally:
        writer.close()
    return status
