"""Tags over HTTP: of lists and of their contacts, also replaced in bulk."""

from typing import Any

import pytest

from api.contacts.tags import MAX_SYNCHRONOUS, TagReplacementJob
from api.jobs.worker import Worker
from tests.harness.api.contacts.lists import BASE, a_list, contacts_in, some
from tests.harness.api.rest import Rest


async def tagged(rest: Rest, list_id: str, tag: str) -> list[str]:
    """Return the contacts that have a tag."""
    words = {"tags": tag, "limit": "1000"}
    answer = await rest.request("GET", f"{BASE}/get-contact/{list_id}", params=words)
    return [each["contactId"] for each in answer.json()["data"]]


async def replaced(rest: Rest, list_id: str, **body: str) -> Any:
    """Replace a tag; return the response."""
    answer = await rest.request("PATCH", f"{BASE}/{list_id}/manage-tags", body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_lists_tags(kept: Rest) -> None:
    """A tag is added once; removing a missing tag does nothing."""
    list_id = await a_list(kept.services)
    path = f"{BASE}/{list_id}/tags"
    answer = await kept.request("PATCH", path, {"tagsToAdd": ["b", "a", "b"]})
    assert answer.json() == {"contactListId": list_id, "tags": ["a", "b"]}
    answer = await kept.request("PATCH", path, {"tagsToAdd": ["a"], "tagsToRemove": ["b", "c"]})
    assert (answer.status_code, answer.json()["tags"]) == (200, ["a"])


async def test_a_tag_is_replaced_on_contacts(kept: Rest) -> None:
    """Contacts of the list with the old tag get the new one, even if they have it already."""
    list_id, other = await a_list(kept.services), await a_list(kept.services, name="Autumn")
    old = await contacts_in(kept.services, list_id, *some(3), tags=("new",))
    both = await contacts_in(kept.services, list_id, *some(1, first=3), tags=("new", "called"))
    none = await contacts_in(kept.services, list_id, *some(1, first=4))
    elsewhere = await contacts_in(kept.services, other, *some(1), tags=("new",))
    done = await replaced(kept, list_id, removeTag="new", insertTag="called")
    assert done == {"contactListId": list_id, "state": "done", "contacts": 4}
    assert await tagged(kept, list_id, "called") == [*old, *both]
    assert await tagged(kept, list_id, "new") == []
    assert await tagged(kept, other, "new") == elsewhere
    assert (await replaced(kept, list_id, insertTag="all"))["contacts"] == 5
    assert await tagged(kept, list_id, "all") == [*old, *both, *none]
    assert (await replaced(kept, list_id, removeTag="called"))["contacts"] == 4
    assert await tagged(kept, list_id, "called") == []


async def test_many_contacts_are_tagged_in_the_background(kept: Rest) -> None:
    """A job tags them, with the same result."""
    list_id = await a_list(kept.services)
    await contacts_in(kept.services, list_id, *some(MAX_SYNCHRONOUS + 1))
    assert (await replaced(kept, list_id, insertTag="all"))["state"] == "waiting"
    assert await tagged(kept, list_id, "all") == []
    await Worker(kept.services.jobs, kept.services.contacts.jobs, kept.services.metrics).once()
    words = {"tags": "all", "offset": str(MAX_SYNCHRONOUS)}
    page = (await kept.request("GET", f"{BASE}/get-contact/{list_id}", params=words)).json()
    assert (len(page["data"]), page["total"]) == (1, MAX_SYNCHRONOUS + 1)


async def test_a_batch_of_tags_is_small(kept: Rest) -> None:
    """No transaction changes more than 500 contacts: others write between two of them."""
    list_id = await a_list(kept.services)
    await contacts_in(kept.services, list_id, *some(501))
    tags = kept.services.contacts.tags.tags
    batch = await tags.replace_batch("acme", TagReplacementJob(int(list_id), None, "all"), 0)
    assert (len(batch), len(await tagged(kept, list_id, "all"))) == (500, 500)


@pytest.mark.parametrize(
    ("path", "body", "fault"),
    [
        ("tags", {"tagsToAdd": "a"}, "tagsToAdd"),
        ("tags", {"tagsToAdd": ["a,b"]}, "tagsToAdd[0]"),
        ("tags", {"tagsToAdd": ["a"], "tagsToRemove": ["a"]}, "tagsToRemove"),
        ("tags", {"add": ["a"]}, "add"),
        ("manage-tags", {}, "removeTag"),
        ("manage-tags", {"removeTag": "a", "insertTag": "a"}, "insertTag"),
        ("manage-tags", {"insertTag": ""}, "removeTag"),
    ],
)
async def test_bad_input_names_its_field(
    rest: Rest, path: str, body: dict[str, Any], fault: str
) -> None:
    """Each error has its path."""
    result = await rest.rejected("PATCH", f"{BASE}/{await a_list(rest.services)}/{path}", body)
    assert (result[0], result[2]) == (400, [fault])


async def test_a_list_has_a_maximum_of_tags(kept: Rest) -> None:
    """A request that exceeds the maximum is rejected and adds none."""
    path = f"{BASE}/{await a_list(kept.services)}/tags"
    await kept.request("PATCH", path, {"tagsToAdd": [f"t{each}" for each in range(100)]})
    assert (await kept.rejected("PATCH", path, {"tagsToAdd": ["more"]}))[0] == 400
    answer = await kept.request("PATCH", path, {"tagsToRemove": ["none"]})
    assert len(answer.json()["tags"]) == 100


async def test_tags_are_read_liberally(kept: Rest) -> None:
    """Any text without a comma is a tag id; null and an empty change are no tags."""
    path = f"{BASE}/{await a_list(kept.services)}/tags"
    tag = "5f8d0d55-b547/späť 1"
    answer = await kept.request("PATCH", path, {"tagsToAdd": [tag], "tagsToRemove": None})
    assert (answer.status_code, answer.json()["tags"]) == (200, [tag]), answer.text
    answer = await kept.request("PATCH", path, {})
    assert (answer.status_code, answer.json()["tags"]) == (200, [tag])
    page = (await kept.request("GET", f"{BASE}/contactlists", params={"tags": tag})).json()
    assert page["total"] == 1
