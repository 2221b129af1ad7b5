"""Checks of a PBX node's manager interface (AMI): over HTTP for recording, over TCP for health."""

import asyncio
from ssl import SSLContext

from cli.doctor.result import Finding, failure, ok, warning
from cli.errors import error_text
from engine.ami.client import AmiClient, AmiUnavailable, open_ami
from engine.config import Settings
from engine.settings.nodes import NodeSettings

TIMEOUT_S = 5.0
_RECORD_ACTION = "MixMonitor"
_SHELL_ACTION = "Command"


async def check_ami(
    settings: Settings, node: NodeSettings, tls: SSLContext | None
) -> list[Finding]:
    """Log in both ways, if there is a password."""
    password = node.ami_password or settings.ami_password
    if password is None:
        text = "no ami_password: no recording, and health only from ARI"
        return [
            warning(
                "no_ami_password",
                node.name,
                text,
                "set SWITCHROOM_AMI_PASSWORD as in its manager.conf",
            )
        ]
    secret = password.get_secret_value()
    async with open_ami(str(node.url).rstrip("/"), node.ami_user, secret, tls) as ami:
        recording = await _recording(node, ami)
    return [recording, await _health(node, secret, tls if node.ami_tls else None)]


async def _recording(node: NodeSettings, ami: AmiClient) -> Finding:
    try:
        answer = await ami.ask("ListCommands", {})
    except AmiUnavailable as error:
        advice = "manager.conf: `webenabled = yes`, its user, `secret`; http.conf `enabled = yes`"
        return failure(
            "ami_unreachable", node.name, f"no manager interface over HTTP: {error}", advice
        )
    if _SHELL_ACTION in answer.fields:
        text = f"its manager lets {node.ami_user} use the console"
        return warning(
            "ami_console", node.name, text, "manager.conf: `write = system,reporting`, no `command`"
        )
    if _RECORD_ACTION in answer.fields:
        return ok(node.name, f"can record: its manager accepts {node.ami_user} over HTTP")
    advice = f"manager.conf: `write = system` for {node.ami_user}; load app_mixmonitor.so"
    return failure(
        "ami_refused", node.name, f"its manager has no {_RECORD_ACTION} for {node.ami_user}", advice
    )


async def _health(node: NodeSettings, secret: str, tls: SSLContext | None) -> Finding:
    address = f"{node.url.host}:{node.ami_port}"
    try:
        async with asyncio.timeout(TIMEOUT_S):
            reply = await _log_in(node, secret, tls)
    except (OSError, TimeoutError) as error:
        advice = "manager.conf: `enabled = yes`, `bindaddr`; set the node's ami_port"
        return warning(
            "ami_unreachable",
            node.name,
            f"no manager interface at {address}: {error_text(error)}",
            advice,
        )
    if "Success" in reply:
        return ok(node.name, f"reports its health by its manager at {address}")
    text = f"its manager at {address} rejects {node.ami_user}"
    return warning(
        "ami_refused", node.name, text, "manager.conf: `secret`, and `permit` for this address"
    )


async def _log_in(node: NodeSettings, secret: str, tls: SSLContext | None) -> str:
    """Log in; return the first line of the response."""
    reader, writer = await asyncio.open_connection(node.url.host or "", node.ami_port, ssl=tls)
    try:
        await reader.readline()  # the banner
        login = ("Action: Login", f"Username: {node.ami_user}", f"Secret: {secret}", "Events: off")
        writer.write("".join(f"{line}\r\n" for line in (*login, "")).encode())
        return (await reader.readline()).decode(errors="replace")
    finally:
        writer.close()
