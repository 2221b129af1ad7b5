"""The authenticated caller, and what it may do."""

from msgspec import Struct

from api.auth.scopes import Scope
from api.common.errors import Forbidden


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
