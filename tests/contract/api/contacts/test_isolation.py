"""Two accounts with contacts: neither finds anything by ids of the other, at any path."""

from typing import Any

from api.jobs.worker import Worker
from tests.harness.api.contacts.lists import BASE, a_list, contacts_in, some
from tests.harness.api.rest import Rest

OURS = ("acme", "other")


class Own:
    """The resources of an account."""

    def __init__(self, account: str, list_id: str, contacts: list[str], download: str) -> None:
        self.account = account
        self.list_id = list_id
        self.contacts = contacts
        self.download = download

    def attempts(self) -> list[tuple[str, str, Any]]:
        """Return all requests with an id of this account in the path."""
        on_list = [
            ("GET", f"get-contact/{self.list_id}", None),
            ("GET", f"viewContacts/{self.list_id}", None),
            ("GET", f"get-contactList-by-Id/{self.list_id}", None),
            ("GET", f"contactlists/{self.list_id}", None),
            ("GET", f"{self.list_id}/export", None),
            ("PATCH", f"{self.list_id}/tags", {"tagsToAdd": ["mine"]}),
            ("PATCH", f"{self.list_id}/manage-tags", {"insertTag": "mine"}),
            ("POST", f"map-fields/{self.list_id}", {"mappings": {"a": "phoneNumber"}}),
            ("POST", f"process-file/{self.list_id}", None),
            ("DELETE", f"delete-file/{self.list_id}", None),
            ("GET", f"download-requests/{self.download}", None),
            ("GET", f"download-requests/{self.download}/download", None),
        ]
        for each in self.contacts:
            body = {"phoneNumber": "+4790999999", "contactListId": self.list_id}
            on_list += [
                ("GET", f"viewmore/{each}", None),
                ("PATCH", f"contact/{each}", {"callStatus": "mine"}),
                ("PATCH", f"contactNumber/{each}", body),
                ("DELETE", f"contactNumber/{each}?contactPoolId={self.list_id}", None),
            ]
        return on_list


async def own(rest: Rest, account: str, token: str) -> Own:
    """Create a list, contacts, an event and a file for an account."""
    list_id = await a_list(rest.services, account)
    contacts = await contacts_in(rest.services, list_id, *some(3), account=account, tags=("vip",))
    new = {"phoneNumber": "+4790111111", "contactListId": list_id, "addToRunningCampaign": True}
    made = await rest.request("POST", f"{BASE}/contactNumber", new, token=token)
    body = {"contactListId": list_id}
    download = await rest.request("POST", f"{BASE}/download-requests", body, token=token)
    await Worker(rest.services.jobs, rest.services.contacts.jobs, rest.services.metrics).once()
    ids = [*contacts, made.json()["contactId"]]
    return Own(account, list_id, ids, download.json()["id"])


async def everything(rest: Rest, mine: Own, token: str) -> list[Any]:
    """Return all that an account can see."""
    paths = (
        "all-contacts?limit=100",
        f"viewContacts/{mine.list_id}?crm=1",
        f"contactlists/{mine.list_id}",
        "contactlists",
        "download-requests",
        "contact-events",
    )
    return [(await rest.request("GET", f"{BASE}/{each}", token=token)).json() for each in paths]


async def test_accounts_see_nothing_of_each_other(kept: Rest) -> None:
    """Each request with an id of the other account gets 404 and changes nothing."""
    tokens = {who: await kept.token_of(who, who) for who in OURS}
    have = {who: await own(kept, who, tokens[who]) for who in OURS}
    before = {who: await everything(kept, have[who], tokens[who]) for who in OURS}
    for me, them in (OURS, OURS[::-1]):
        for method, path, body in have[them].attempts():
            answer = await kept.request(method, f"{BASE}/{path}", body, token=tokens[me])
            assert answer.status_code == 404, (method, path, answer.text)
        shown = str(before[me])
        assert not [each for each in have[them].contacts if f"'contactId': '{each}'" in shown]
        assert have[them].download not in shown
    assert {who: await everything(kept, have[who], tokens[who]) for who in OURS} == before


async def test_foreign_ids_in_bodies_are_unknown(kept: Rest) -> None:
    """They are rejected like ids that do not exist, and nothing is written."""
    token = await kept.token_of("other", "other")
    mine, theirs = await own(kept, "acme", kept.token), await own(kept, "other", token)
    into = {"phoneNumber": "+4790999999", "contactListId": theirs.list_id}
    for method, path, body in (
        ("POST", "contactNumber", into),
        ("PATCH", f"contactNumber/{mine.contacts[0]}", into),
        ("POST", "download-requests", {"contactListId": theirs.list_id}),
    ):
        result = await kept.rejected(method, f"{BASE}/{path}", body)
        assert result == (400, "invalid", ["contactListId"])
        result = await kept.rejected(method, f"{BASE}/{path}", {**body, "contactListId": "999999"})
        assert result == (400, "invalid", ["contactListId"])
    path = f"{BASE}/contactNumber/{mine.contacts[0]}"
    result = await kept.rejected("DELETE", path, params={"contactPoolId": theirs.list_id})
    assert result[0] == 404
    words = {"contactId": theirs.contacts[0]}
    page = await kept.request("GET", f"{BASE}/viewContacts/{mine.list_id}", params=words)
    assert page.json()["data"] == []
