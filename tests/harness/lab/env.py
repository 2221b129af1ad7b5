"""The settings of the lab of `make up`, whose file is the `.env` of the repository."""

import os
from collections.abc import Mapping
from pathlib import Path

from dev.lab.plan import Plan
from dev.lab.settings import ensure_settings

_PLAN = Plan(nodes=2)
_PORTS = _PLAN.ports()
API_PORT = _PORTS.api
VALKEY_PORT = _PORTS.valkey
ARI_PORTS = dict(zip(_PLAN.node_names(), (each.ari for each in _PORTS.nodes), strict=True))
SIP_PORTS = dict(zip(_PLAN.node_names(), (each.sip for each in _PORTS.nodes), strict=True))


def ensure_env(path: Path, environ: Mapping[str, str] = os.environ) -> Mapping[str, str]:
    """Write missing settings to the file, and return all."""
    plan = Plan(nodes=2, settings=str(path))
    return ensure_settings(path.absolute().parent / ".lab", plan, environ)
