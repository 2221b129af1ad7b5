"""Tests the lab in Docker: `python -m tests.harness.lab.compose_trial`.

Compose starts it; both nodes and both engines must be ready, one SIPp call must complete on each
node, a live call must survive a restart of each engine in turn, and a call made over REST must
leave a record. Exits with 0 and a message where no Docker engine with compose answers.
"""

import asyncio
import json
import sys
from collections.abc import Mapping

import aiohttp

from tests.harness.lab import compose
from tests.harness.lab.compose_roll import ENGINES, RollingRestart
from tests.harness.lab.env import ARI_PORTS, ensure_env
from tests.harness.phones.sipp_caller import answering, call_through
from tests.harness.until import until

NUMBER = "15550199"
SIP_PORTS = {"pbx1": 5060, "pbx2": 5062}
GATHER = {"type": "gather", "data": {"timeout": 120_000}}
SAY = {"type": "say", "data": {"text": "Hello. This call was made over REST."}}
API = "http://127.0.0.1:8000"
TRUNK_PORT = 5080
SHORT_S = 1
LONG_S = 35  # SIPp is silent: after 45 s the PBX would hang up


async def trial() -> None:
    """Start the lab, test it and stop it; raises RuntimeError on the first fault."""
    if not await compose.is_available():
        sys.stdout.write("no Docker engine available\n")
        return
    settings = ensure_env(compose.ROOT / ".env")
    await compose.run("up", "--detach", "--build", "--wait")
    try:
        await check_ready(settings)
        await check_calls(settings)
        await check_rest(settings)
    finally:
        await compose.run("down")
    sys.stdout.write(
        "compose: both nodes and both engines are ready, a call completed on each node, "
        "one survived a restart of each engine, and one made over REST has its record\n"
    )


async def check_ready(settings: Mapping[str, str]) -> None:
    """Check that each node's ARI, each engine and the REST layer are ready."""
    login = aiohttp.encode_basic_auth("switchroom", settings["SWITCHROOM_ARI_PASSWORD"])
    async with aiohttp.ClientSession(raise_for_status=True) as session:
        for port in ARI_PORTS.values():
            url = f"http://127.0.0.1:{port}/ari/asterisk/ping"
            await session.get(url, headers={"Authorization": login})
        for port in ENGINES.values():
            await session.get(f"http://127.0.0.1:{port}/readyz")
        await session.get(f"{API}/readyz")


async def check_calls(settings: Mapping[str, str]) -> None:
    """Call a gathering number through each node, and restart the engines during a call."""
    token = {"Authorization": f"Bearer {settings['SWITCHROOM_RPC_TOKEN']}"}
    body = {"account": settings["SWITCHROOM_ACCOUNT"], "action": GATHER}
    async with aiohttp.ClientSession(headers=token, raise_for_status=True) as session:
        rolling = RollingRestart(session, compose.run)
        route = f"{rolling.url('engine1')}/routes/{NUMBER}"
        await session.put(route, json=body)
        for port in SIP_PORTS.values():
            await call_through(port, NUMBER, SHORT_S)
        await until(rolling.is_idle, what="the short calls to end")
        async with asyncio.TaskGroup() as group:
            group.create_task(call_through(SIP_PORTS["pbx1"], NUMBER, LONG_S))
            group.create_task(rolling.restart_each())
        await session.delete(route)


async def check_rest(settings: Mapping[str, str]) -> None:
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


if __name__ == "__main__":
    try:
        asyncio.run(trial())
    except* (RuntimeError, TimeoutError, aiohttp.ClientError) as errors:
        sys.exit(f"compose trial: {errors.exceptions[0]}")
