"""One PBX node's manager interface: over HTTP, where calls are recorded, and over TCP."""

import asyncio

from engine.ami.client import AmiClient, AmiUnavailable, open_ami
from engine.cli.doctor.result import Finding, failure, ok, warning
from engine.cli.errors import error_text
from engine.config import NodeSettings, Settings

LIMIT_S = 5.0
RECORDS = "MixMonitor"


async def check_ami(settings: Settings, node: NodeSettings) -> list[Finding]:
    """Log in both ways; without a password nothing is asked."""
    password = node.ami_password or settings.ami_password
    if password is None:
        text = "no ami_password: nothing is recorded, and its health is what ARI shows"
        return [warning(node.name, text, "set SWITCHROOM_AMI_PASSWORD as in its manager.conf")]
    secret = password.get_secret_value()
    async with open_ami(str(node.url).rstrip("/"), node.ami_user, secret) as ami:
        recording = await _recording(node, ami)
    return [recording, await _watched(node, secret)]


async def _recording(node: NodeSettings, ami: AmiClient) -> Finding:
    try:
        answer = await ami.ask("ListCommands", {})
    except AmiUnavailable as error:
        advice = "manager.conf: `webenabled = yes`, its user, `secret`; http.conf `enabled = yes`"
        return failure(node.name, f"no manager interface over HTTP: {error}", advice)
    if RECORDS in answer.fields:
        return ok(node.name, f"records calls: its manager lets {node.ami_user} in over HTTP")
    advice = f"manager.conf: `write = system` for {node.ami_user}; load app_mixmonitor.so"
    return failure(node.name, f"its manager has no {RECORDS} for {node.ami_user}", advice)


async def _watched(node: NodeSettings, secret: str) -> Finding:
    where = f"{node.url.host}:{node.ami_port}"
    try:
        async with asyncio.timeout(LIMIT_S):
            said = await _logged_in(node, secret)
    except (OSError, TimeoutError) as error:
        advice = "manager.conf: `enabled = yes`, `bindaddr`; set the node's ami_port"
        return warning(node.name, f"no manager interface at {where}: {error_text(error)}", advice)
    if "Success" in said:
        return ok(node.name, f"its health is told by its manager at {where}")
    text = f"its manager at {where} refuses {node.ami_user}"
    return warning(node.name, text, "manager.conf: `secret`, and `permit` for this address")


async def _logged_in(node: NodeSettings, secret: str) -> str:
    """Give the manager's answer to a login, its first line."""
    reader, writer = await asyncio.open_connection(node.url.host or "", node.ami_port)
    try:
        await reader.readline()  # its greeting
        login = ("Action: Login", f"Username: {node.ami_user}", f"Secret: {secret}", "Events: off")
        writer.write("".join(f"{line}\r\n" for line in (*login, "")).encode())
        return (await reader.readline()).decode(errors="replace")
    finally:
        writer.close()
