"""Agents that share one password, as in the lab."""

# ruff: noqa: INP001 - beside a script, not a package

from config_value import escaped

AGENT_IDS = range(1001, 1010)


def agent_sections(password: str) -> str:
    """Return the endpoints 1001 to 1009; none without a password."""
    return "\n".join(_sections(each, password) for each in AGENT_IDS if password)


def _sections(agent: int, password: str) -> str:
    return f"""[{agent}](agent)
auth = {agent}
aors = {agent}
callerid = Agent {agent} <{agent}>
[{agent}](agent-aor)
[{agent}](agent-auth)
username = {agent}
password = {escaped(password)}
"""
