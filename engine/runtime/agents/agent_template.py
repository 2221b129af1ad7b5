"""The template of agents' endpoints, for agents that no document names."""

import re

from msgspec import Struct

from wire.decoding.patterns import NAME


class AgentTemplate(Struct, frozen=True):
    """Endpoints by `{agent_id}`: of one account, or of every account if it contains `{account}`.

    Other accounts need a document for each agent: they would share their phones otherwise.
    """

    text: str
    account: str = ""

    def endpoint(self, account: str, agent_id: str) -> str | None:
        """Return the endpoint of an agent; None: the account may not use the template."""
        if account != self.account and "{account}" not in self.text:
            return None
        return self.text.format(account=account, agent_id=agent_id)

    def agent_id(self, account: str, endpoint: str) -> str:
        """Return the account's agent at an endpoint; empty: none."""
        before, _, after = self.text.replace("{account}", account).partition("{agent_id}")
        agent_id = endpoint.removeprefix(before).removesuffix(after)
        is_name = re.search(NAME, agent_id) is not None
        return agent_id if is_name and self.endpoint(account, agent_id) == endpoint else ""
