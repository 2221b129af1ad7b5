"""Check of a PBX node: whether it survives every REFER that it accepts."""

import re

import aiohttp
from yarl import URL

from cli.doctor.result import Finding, failure, ok

# The first versions that survive `Refer-Sub: false`, by branch (Asterisk issue 2021).
_FIXED = {20: 21, 22: 11, 23: 5}
_NEXT_BRANCH = 24
_OK = 200
_ADVICE = "PBX_AGENT_REFER=no and PBX_TRUNK_REFER=no, or upgrade to 20.21, 22.11, 23.5 or later"


async def check_refer(
    name: str, http: aiohttp.ClientSession, ari: URL, version: str
) -> list[Finding]:
    """Check the version against the endpoints that accept REFER."""
    if survives_refer(version):
        return [ok(name, "survives every REFER")]
    accepting = await _accepting(http, ari)
    if not accepting:
        return [ok(name, "declines REFER, which could crash this version")]
    text = f"accepts REFER of {', '.join(accepting)}; one with `Refer-Sub: false` crashes {version}"
    return [failure("refer_crash", name, text, _ADVICE)]


def survives_refer(version: str) -> bool:
    """Return whether a version has the fix; one that is not a number may have it."""
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is None:
        return True
    branch, release = int(found[1]), int(found[2])
    return branch >= _NEXT_BRANCH or release >= _FIXED.get(branch, release + 1)


async def _accepting(http: aiohttp.ClientSession, ari: URL) -> list[str]:
    """Return endpoints that accept REFER: the first phone's stands for all."""
    async with http.get(ari / "endpoints/PJSIP") as reply:
        found = await reply.json() if reply.status == _OK else []
    names = sorted(each["resource"] for each in found)
    shown = [name for name in names if name in {"trunk", "peers"}]
    shown += [name for name in names if name not in {"trunk", "peers"}][:1]
    return [name for name in shown if await _accepts(http, ari, name)]


async def _accepts(http: aiohttp.ClientSession, ari: URL, name: str) -> bool:
    path = ari / "asterisk/config/dynamic/res_pjsip/endpoint" / name
    async with http.get(path) as reply:
        fields = await reply.json() if reply.status == _OK else []
    return {"attribute": "allow_transfer", "value": "true"} in fields
