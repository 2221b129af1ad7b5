"""Settings of a lab: secrets are drawn once and kept, all others follow from its plan.

Variables of the environment override both, as in the engine.
"""

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from dev.errors import MissingSetting
from dev.lab.env_file import read_file, read_text, replace_file, setting_line
from dev.lab.plan import FOLDER, Plan

FILE = "settings.env"
AGENT_IDS = range(1001, 1010)  # whose endpoints the PBX has (asterisk-config/agents.py)


def ensure_settings(
    folder: Path, plan: Plan, environ: Mapping[str, str] = os.environ
) -> Mapping[str, str]:
    """Append missing settings to the file, readable only by its owner, and return all settings.

    A file of the plan gets all of them, as it is what commands read.
    """
    path = settings_path(folder, plan)
    stored = read_file(path)
    drawn = {**_drawn(), **stored}
    derived = _derived(folder, plan, drawn)
    wanted = {**derived, **drawn} if plan.settings else drawn
    append(path, {name: value for name, value in wanted.items() if name not in stored})
    return {**derived, **drawn, **_overrides(environ)}


def read_settings(
    folder: Path, plan: Plan, environ: Mapping[str, str] = os.environ
) -> Mapping[str, str]:
    """Return the settings of a lab that was started before; raises MissingSetting."""
    path = settings_path(folder, plan)
    stored = read_file(path)
    if missing := _drawn().keys() - {*stored, *_overrides(environ)}:
        raise MissingSetting(path, min(missing))
    return {**_derived(folder, plan, {**_drawn(), **stored}), **stored, **_overrides(environ)}


def settings_path(folder: Path, plan: Plan) -> Path:
    return Path(plan.settings) if plan.settings else folder / FILE


def append(path: Path, values: Mapping[str, str]) -> None:
    if values:
        before = read_text(path)
        separator = "" if not before or before.endswith("\n") else "\n"
        lines = (setting_line(name, value) for name, value in values.items())
        replace_file(path, before + separator + "".join(lines))


def _overrides(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name.startswith("SWITCHROOM_")}


def _drawn() -> dict[str, str]:
    """Return new secrets and identities."""
    return {
        "SWITCHROOM_ACCOUNT": f"acct_{secrets.token_hex(8)}",
        "SWITCHROOM_API_KEY": f"swk_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}",
        "SWITCHROOM_API_SECRET": f"sws_{secrets.token_urlsafe(32)}",
        "SWITCHROOM_RPC_TOKEN": secrets.token_urlsafe(32),
        "SWITCHROOM_SIGNING_KEY": secrets.token_hex(32),
        "SWITCHROOM_STORE_KEY": secrets.token_hex(32),
        "SWITCHROOM_TOKEN_SECRET": secrets.token_urlsafe(48),
        "SWITCHROOM_ARI_PASSWORD": secrets.token_urlsafe(24),
        "SWITCHROOM_AMI_PASSWORD": secrets.token_urlsafe(24),
        "SWITCHROOM_AGENT_PASSWORD": secrets.token_urlsafe(12),
        "SWITCHROOM_PEER_PASSWORD": secrets.token_urlsafe(24),
        "SWITCHROOM_STORE_PASSWORD": secrets.token_urlsafe(24),
        "SWITCHROOM_STREAMS_TOKEN": secrets.token_urlsafe(32),
        "SWITCHROOM_SPEECH_TOKEN": secrets.token_urlsafe(32),
    }


def _derived(folder: Path, plan: Plan, drawn: Mapping[str, str]) -> dict[str, str]:
    ports = plan.ports()
    account = drawn["SWITCHROOM_ACCOUNT"]
    return {
        FOLDER: str(folder),
        "SWITCHROOM_RPC_HOST": "127.0.0.1",
        "SWITCHROOM_RPC_PORT": str(ports.engine),
        "SWITCHROOM_REDIS_URL": store_url(plan, drawn["SWITCHROOM_STORE_PASSWORD"]),
        "SWITCHROOM_AGENT_ACCOUNT": account,
        "SWITCHROOM_ACCOUNT_IS_LIMITED": "false",
        "SWITCHROOM_ALLOW": '["any"]',
        "SWITCHROOM_DEFAULT_ALLOW": '["any"]',
        "SWITCHROOM_API_HOST": "127.0.0.1",
        "SWITCHROOM_API_PORT": str(ports.api),
        "SWITCHROOM_API_METRICS_PORT": str(ports.metrics),
        "SWITCHROOM_API_DOCS": "true",
        "SWITCHROOM_KEYS_AS_TOKENS": "true",
        "SWITCHROOM_ACCOUNT_SCOPES": '["owner", "operations"]',
        "SWITCHROOM_API_PHONE_NODES": json.dumps(
            [f"http://127.0.0.1:{node.ari}" for node in ports.nodes]
        ),
        "SWITCHROOM_API_PHONE_URL": f"ws://127.0.0.1:{ports.api}",
        "SWITCHROOM_CORS_ORIGINS": json.dumps([f"http://localhost:{ports.api}"]),
        "SWITCHROOM_STREAMS_ACCOUNT_SHARE": "100",
        "SWITCHROOM_CALLER_IDS": '["+4721930000"]',
        "SWITCHROOM_ACCOUNT_ENDPOINTS": json.dumps([f"PJSIP/{each}" for each in AGENT_IDS]),
        "SWITCHROOM_DATABASE_URL": f"sqlite+aiosqlite:///{folder}/api/switchroom.db",
        "SWITCHROOM_ENGINE_URLS": json.dumps([f"http://127.0.0.1:{ports.engine}"]),
        "SWITCHROOM_NODES": json.dumps(_nodes(plan, drawn["SWITCHROOM_ARI_PASSWORD"])),
        "SWITCHROOM_SLOTS": "8",
        "SWITCHROOM_MEDIA_DIR": f"{folder}/engine/media",
        "SWITCHROOM_RECORDINGS_URL": f"file://{folder}/engine/recordings",
        "SWITCHROOM_RECORDINGS_PUBLIC_URL": (
            f"http://127.0.0.1:{ports.api}/srmain/recordings/files"
        ),
        "SWITCHROOM_MEDIA_ALLOW": '["127.0.0.0/8"]',
        "SWITCHROOM_WEBHOOK_ALLOW": '["127.0.0.0/8"]',
        "SWITCHROOM_SIP_HOSTS": '["127.0.0.1"]',
        "SWITCHROOM_ALLOW_INSECURE_WEBHOOKS": "true",
        "SWITCHROOM_TRUNK": trunk(plan),
    }


def store_url(plan: Plan, password: str) -> str:
    """Return the address of the lab's own store; with another one, none is started."""
    return f"redis://:{password}@127.0.0.1:{plan.ports().valkey}/0"


def trunk(plan: Plan) -> str:
    """Return the address of the lab's own phone, which is its carrier."""
    return f"sip:127.0.0.1:{plan.ports().phone}"


def _nodes(plan: Plan, password: str) -> list[dict[str, object]]:
    ports = plan.ports()
    return [
        {
            "name": name,
            "url": f"http://127.0.0.1:{node.ari}",
            "user": "switchroom",
            "password": password,
            "media_url": f"http://127.0.0.1:{ports.engine}",
            "ami_port": node.ami,
            "sip_port": node.sip,
            "stream_gateways": [f"http://127.0.0.1:{ports.streams}"],
        }
        for name, node in zip(plan.node_names(), ports.nodes, strict=True)
    ]
