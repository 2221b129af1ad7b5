"""Development settings: `.env` in the repository, written once with random secrets.

Environment variables override the file, as in the engine; settings of newer versions are appended.
"""

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from dotenv import dotenv_values

ENGINE_PORT = 8070
API_PORT = 8000
VALKEY_PORT = 6390
ARI_PORTS = {"pbx1": 8088, "pbx2": 8089}
AMI_PORTS = {"pbx1": 5038, "pbx2": 5039}
SIP_PORTS = {"pbx1": 5060, "pbx2": 5062}
LAB_REDIS_URL = f"redis://127.0.0.1:{VALKEY_PORT}/0"


def ensure_env(path: Path, environ: Mapping[str, str] = os.environ) -> Mapping[str, str]:
    """Append missing settings to `.env`, readable only by its owner, and return all settings."""
    known = _read(path)
    missing = {name: value for name, value in _defaults(path, known).items() if name not in known}
    if missing:
        path.touch(mode=0o600)
        with path.open("a") as out:
            out.writelines(f"{name}='{value}'\n" for name, value in missing.items())
    return read_env(path, environ)


def read_env(path: Path, environ: Mapping[str, str] = os.environ) -> Mapping[str, str]:
    """Return the settings of the file, overridden by the environment."""
    overrides = {name: value for name, value in environ.items() if name.startswith("SWITCHROOM_")}
    return {**_read(path), **overrides}


def _read(path: Path) -> dict[str, str]:
    return {name: value for name, value in dotenv_values(path).items() if value is not None}


def _defaults(path: Path, known: Mapping[str, str]) -> Mapping[str, str]:
    """Return all default settings; nodes get the ARI password of the file, if it has one."""
    ari_password = known.get("SWITCHROOM_ARI_PASSWORD", secrets.token_urlsafe(24))
    account = known.get("SWITCHROOM_ACCOUNT", f"acct_{secrets.token_hex(8)}")
    return {
        "SWITCHROOM_RPC_HOST": "127.0.0.1",
        "SWITCHROOM_RPC_PORT": str(ENGINE_PORT),
        "SWITCHROOM_RPC_TOKEN": secrets.token_urlsafe(32),
        "SWITCHROOM_REDIS_URL": LAB_REDIS_URL,
        "SWITCHROOM_ACCOUNT": account,
        "SWITCHROOM_AGENT_ACCOUNT": account,
        "SWITCHROOM_ALLOW": '["any"]',
        "SWITCHROOM_DEFAULT_ALLOW": '["any"]',
        "SWITCHROOM_SIGNING_KEY": secrets.token_hex(32),
        "SWITCHROOM_STORE_KEY": secrets.token_hex(32),
        "SWITCHROOM_API_HOST": "127.0.0.1",
        "SWITCHROOM_API_PORT": str(API_PORT),
        "SWITCHROOM_API_KEY": f"swk_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}",
        "SWITCHROOM_API_SECRET": f"sws_{secrets.token_urlsafe(32)}",
        "SWITCHROOM_TOKEN_SECRET": secrets.token_urlsafe(48),
        "SWITCHROOM_CALLER_IDS": '["+4721930000"]',
        "SWITCHROOM_DATABASE_URL": "sqlite+aiosqlite:///.lab/api/switchroom.db",
        "SWITCHROOM_ENGINE_URLS": json.dumps([f"http://127.0.0.1:{ENGINE_PORT}"]),
        "SWITCHROOM_ARI_PASSWORD": ari_password,
        "SWITCHROOM_AMI_PASSWORD": secrets.token_urlsafe(24),
        "SWITCHROOM_AGENT_PASSWORD": secrets.token_urlsafe(12),
        "SWITCHROOM_PEER_PASSWORD": secrets.token_urlsafe(24),
        "SWITCHROOM_STORE_PASSWORD": secrets.token_urlsafe(24),
        "SWITCHROOM_NODES": json.dumps(_nodes(ari_password)),
        "SWITCHROOM_SLOTS": "8",
        "SWITCHROOM_MEDIA_DIR": ".lab/engine/media",
        "SWITCHROOM_RECORDINGS_URL": f"file://{path.absolute().parent}/.lab/engine/recordings",
        "SWITCHROOM_MEDIA_ALLOW": '["127.0.0.0/8"]',
        "SWITCHROOM_WEBHOOK_ALLOW": '["127.0.0.0/8"]',
        "SWITCHROOM_SIP_HOSTS": '["127.0.0.1"]',
        "SWITCHROOM_ALLOW_INSECURE_WEBHOOKS": "true",
    }


def _nodes(password: str) -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "url": f"http://127.0.0.1:{port}",
            "user": "switchroom",
            "password": password,
            "media_url": f"http://127.0.0.1:{ENGINE_PORT}",
            "ami_port": AMI_PORTS[name],
            "sip_port": SIP_PORTS[name],
        }
        for name, port in ARI_PORTS.items()
    ]
