"""The authenticated caller, and what it may do: scopes, and bundles of them for the usual roles."""

from collections.abc import Iterable, Mapping
from typing import Literal, TypeGuard, get_args

from msgspec import Struct

from api.common.errors import Forbidden

Scope = Literal[
    "calls",
    "calls:own",
    "cdr",
    "cdr:own",
    "contacts:read",
    "contacts:write",
    "contacts:export",
    "templates:read",
    "templates:write",
    "numbers:read",
    "numbers:write",
    "routes:read",
    "routes:write",
    "agents:read",
    "agents:write",
    "recordings",
    "recordings:delete",
    "webhooks",
    "listen",
    "account:read",
    "account:write",
    "jobs",
    "audit",
    "keys",
    "operations",
]
SCOPES: tuple[Scope, ...] = get_args(Scope)
# A token with `calls:own` acts as its agent, in that agent's calls only.
IMPLIED: Mapping[Scope, Scope] = {"calls": "calls:own", "cdr": "cdr:own"}
_READS: frozenset[Scope] = frozenset(
    {
        "contacts:read",
        "templates:read",
        "numbers:read",
        "routes:read",
        "agents:read",
        "account:read",
    }
)
AGENT = "agent"
INTEGRATOR = "integrator"
# The whole installation: no bundle has it, so that only an operator's command can give it first.
OPERATIONS: Scope = "operations"
_OF_ACCOUNT = frozenset(SCOPES) - {OPERATIONS}
# A server's key may leak: it makes no keys, deletes no recording or record (also not by shorter
# retention), and redirects no export by e-mail.
_OF_OWNER: frozenset[Scope] = frozenset({"account:write", "audit", "keys", "recordings:delete"})
BUNDLES: Mapping[str, frozenset[Scope]] = {
    "owner": _OF_ACCOUNT,
    INTEGRATOR: _OF_ACCOUNT - _OF_OWNER,
    "supervisor": frozenset({"calls", "cdr", "recordings", *_READS}),
    AGENT: frozenset({"calls:own", "cdr:own"}),
    "read-only": frozenset({"cdr", *_READS}),
}


def is_scope(name: str) -> TypeGuard[Scope]:
    """Return whether there is a scope of this name."""
    return name in SCOPES


def resolve(names: Iterable[str]) -> frozenset[Scope]:
    """Return the scopes that scopes and bundles grant, with those that they imply."""
    granted: set[Scope] = set()
    for name in names:
        granted |= BUNDLES.get(name) or ({name} if is_scope(name) else set())
    return frozenset(granted | {IMPLIED[each] for each in granted if each in IMPLIED})


def unknown_scopes(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that are neither a scope nor a bundle."""
    return tuple(each for each in names if each not in BUNDLES and each not in SCOPES)


class Principal(Struct, frozen=True):
    """An account, one of its agents if the key or token has one, and the granted scopes."""

    account_id: str
    key_id: str
    agent_id: str | None = None
    scopes: frozenset[Scope] = frozenset()

    def require(self, scope: Scope) -> None:
        """Raise Forbidden without a scope."""
        if scope not in self.scopes:
            raise Forbidden(f"this key or token lacks the scope {scope}", "scope")

    def only_agent(self, scope: Scope) -> str | None:
        """Return the agent whose own things alone are allowed, or None with a scope for all.

        Raises Forbidden if there is neither.
        """
        if scope in self.scopes:
            return None
        if self.agent_id is None:
            raise Forbidden("this token is no agent's, so nothing is its own", "no_agent")
        return self.agent_id

    def check_agent(self, agent_id: str | None, path: str) -> None:
        """Raise Forbidden if a request names another agent as the one that acts."""
        if self.agent_id is not None and agent_id not in {None, self.agent_id}:
            raise Forbidden(f"{path}: this token acts as agent {self.agent_id}", "agent")
