"""Tests the lab in Docker with TLS: `python -m tools.compose_trial`.

The script for operators makes certificates, and Compose starts the lab with them. Both nodes, both
engines and the REST layer must be ready, and answer nothing in clear text. One SIPp call must
complete on each node, a live call must survive a restart of each engine in turn, and a call made
over REST must play its audio and leave a record. Exits with 1 where no Docker engine with compose
answers, because then nothing was tried; tests/live/cluster/test_tls_stack.py needs none.
"""

import asyncio
import json
import ssl
import sys
from asyncio.subprocess import create_subprocess_exec
from collections.abc import Mapping
from functools import partial
from typing import Any

import aiohttp

from tests.harness.documents import DocumentPush
from tests.harness.lab import compose
from tests.harness.lab.compose_roll import RollingRestart
from tests.harness.lab.env import API_PORT, ARI_PORTS, SIP_PORTS, VALKEY_PORT, ensure_env
from tests.harness.phones.sipp_caller import answering, call_through
from tests.harness.until import until

NUMBER = "15550199"
GATHER = {"type": "gather", "data": {"timeout": 120_000}}
SAY = {"type": "say", "data": {"text": "Hello. This call was made over REST."}}
ENGINES = {"engine1": "https://127.0.0.1:8070", "engine2": "https://127.0.0.1:8071"}
API = f"http://127.0.0.1:{API_PORT}"
API_HEALTH = "http://127.0.0.1:8001"
TLS_PORTS = (8070, 8071, VALKEY_PORT, *ARI_PORTS.values(), 5038, 5039)
TRUNK_PORT = 5080
SHORT_S = 1
LONG_S = 35  # SIPp is silent: after 45 s the PBX would hang up
CERTIFICATES = ("docs/operations/certificates.sh", ".tls")
SERVERS = ("engine", "pbx", "valkey", "streams", "speech")
NOTHING_TRIED = """nothing was started, because no Docker engine with compose answers.
The same installation runs as processes: .venv/bin/pytest tests/live/cluster/test_tls_stack.py"""
run = partial(compose.run, "--file", "docker-compose.yml", "--file", "docker-compose.tls.yml")


async def trial() -> None:
    """Start the lab, test it and stop it; raises RuntimeError on the first fault."""
    if not await compose.is_available():
        raise RuntimeError(NOTHING_TRIED)
    settings = ensure_env(compose.ROOT / ".env")
    await make_certificates()
    await run("up", "--detach", "--build", "--wait")
    try:
        trust = ssl.create_default_context(cafile=compose.ROOT / ".tls/ca.crt")
        await check_ready(settings, trust)
        await asyncio.gather(*map(check_encrypted, TLS_PORTS))
        async with open_rpc(settings, trust) as rpc:
            await check_calls(settings, rpc)
            await check_rest(settings, rpc)
    finally:
        await run("down")
    sys.stdout.write(
        "compose: both nodes and both engines are ready over TLS, a call completed on each node, "
        "one survived a restart of each engine, and one made over REST has its record\n"
    )


async def make_certificates() -> None:
    """Make the certificates of all servers, as operators do."""
    names = (f"{name}=IP:127.0.0.1" for name in SERVERS)
    process = await create_subprocess_exec(*CERTIFICATES, *names, cwd=compose.ROOT)
    if await process.wait() != 0:
        raise RuntimeError("no certificates could be made: openssl is needed")


def open_rpc(settings: Mapping[str, str], trust: ssl.SSLContext) -> aiohttp.ClientSession:
    """Open a session with the engines' token, which trusts their CA."""
    token = {"Authorization": f"Bearer {settings['SWITCHROOM_RPC_TOKEN']}"}
    connector = aiohttp.TCPConnector(ssl=trust)
    return aiohttp.ClientSession(headers=token, connector=connector, raise_for_status=True)


async def check_ready(settings: Mapping[str, str], trust: ssl.SSLContext) -> None:
    """Check that each node's ARI, each engine and the REST layer are ready."""
    login = aiohttp.encode_basic_auth("switchroom", settings["SWITCHROOM_ARI_PASSWORD"])
    connector = aiohttp.TCPConnector(ssl=trust)
    async with aiohttp.ClientSession(raise_for_status=True, connector=connector) as session:
        for port in ARI_PORTS.values():
            url = f"https://127.0.0.1:{port}/ari/asterisk/ping"
            await session.get(url, headers={"Authorization": login})
        for url in ENGINES.values():
            await session.get(f"{url}/readyz")
        await session.get(f"{API_HEALTH}/readyz")


async def check_encrypted(port: int) -> None:
    """Check that a port has no answer for a client without TLS."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.0\r\n\r\n")
    try:
        async with asyncio.timeout(5):
            answer = await reader.read(100)
    except (ConnectionError, TimeoutError):
        answer = b""
    writer.close()
    if answer.startswith((b"HTTP/", b"-ERR", b"Asterisk")):
        raise RuntimeError(f"port {port} answers in clear text: {answer.decode()}")


async def check_calls(settings: Mapping[str, str], rpc: aiohttp.ClientSession) -> None:
    """Call a gathering number through each node, and restart the engines during a call."""
    body = {"account": settings["SWITCHROOM_ACCOUNT"], "action": GATHER}
    rolling = RollingRestart(rpc, run, ENGINES)

    async def send(method: str, path: str, sent: object) -> Any:
        async with rpc.request(method, f"{rolling.url('engine1')}{path}", json=sent) as reply:
            return await reply.json()

    # Not among the account's documents: the REST layer would delete it.
    documents = DocumentPush(send)
    await documents.put("trial", "route", NUMBER, body)
    for port in SIP_PORTS.values():
        await call_through(port, NUMBER, SHORT_S)
    await until(rolling.is_idle, what="the short calls to end")
    async with asyncio.TaskGroup() as group:
        group.create_task(call_through(SIP_PORTS["pbx1"], NUMBER, LONG_S))
        group.create_task(rolling.restart_each())
    await documents.delete("trial", "route", NUMBER)


async def check_rest(settings: Mapping[str, str], rpc: aiohttp.ClientSession) -> None:
    """Get a token, call a phone behind the trunk, and wait for the call record."""
    account, called = settings["SWITCHROOM_ACCOUNT"], settings["SWITCHROOM_CALLER_IDS"]
    key = {"apiKey": settings["SWITCHROOM_API_KEY"], "apiSecret": settings["SWITCHROOM_API_SECRET"]}
    body = {"from": json.loads(called)[0], "to": "+4722222222", "action": SAY}
    async with aiohttp.ClientSession(API, raise_for_status=True) as session, answering(TRUNK_PORT):
        reply = await session.post(f"/auth/get-access-token/{account}", json=key)
        token = {"Authorization": (await reply.json())["accessToken"]}
        reply = await session.post("/srmain/voice/call", json=body, headers=token)
        call = (await reply.json())["callId"]

        async def has_record() -> bool:
            path = f"/srmain/cdr/{call}"
            async with session.get(path, headers=token, raise_for_status=False) as found:
                return found.status == 200 and (await found.json())["status"] == "completed"

        await until(has_record, timeout_s=30, what="the record of the call made over REST")
    await check_played(rpc, call)


async def check_played(rpc: aiohttp.ClientSession, call: str) -> None:
    """Check that the node fetched the call's audio from its engine."""
    reply = await rpc.get(f"{ENGINES['engine1']}/rpc/v1/calls/{call}/timeline")
    rows = (await reply.json())["rows"]
    found = [each.get("details", {}) for each in rows]
    ended = [each["failed"] for each in found if each.get("type") == "playback-ended"]
    if ended != [False]:
        raise RuntimeError(f"the call made over REST played no audio: {rows}")


if __name__ == "__main__":
    try:
        asyncio.run(trial())
    except* (RuntimeError, TimeoutError, aiohttp.ClientError) as errors:
        sys.exit(f"compose trial: {errors.exceptions[0]}")
