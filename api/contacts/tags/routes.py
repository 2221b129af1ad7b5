"""Tags over REST (docs/contacts.md)."""

from typing import Annotated

from api.auth.dependencies import AuthenticatedUser
from api.contacts.ids import BASE, ListIdPath
from api.contacts.tags.schemas import ListTagsRequest, ManageTagsRequest
from api.contacts.tags.service import ListTags, TagReplacement, TagService
from api.http.routes import Body, Routes
from api.http.services import service

routes = Routes("Contacts")
Tags = Annotated[TagService, service("contacts.tags")]


@routes.patch(
    f"{BASE}/{{contactListId}}/tags",
    id="contactLists.updateTags",
    scope="contacts:write",
    errors=(404,),
    example={"tagsToAdd": ["spring"], "tagsToRemove": ["winter"]},
)
async def change_list_tags(
    list_id: ListIdPath, user: AuthenticatedUser, tags: Tags, body: Body[ListTagsRequest]
) -> ListTags:
    """Add and remove tags of a list; the tags of its contacts stay."""
    return await tags.change(user.account_id, list_id, body)


@routes.patch(
    f"{BASE}/{{contactListId}}/manage-tags",
    id="contacts.replaceTags",
    scope="contacts:write",
    errors=(404, 429),
    example={"removeTag": "new", "insertTag": "called"},
)
async def replace_contact_tags(
    list_id: ListIdPath, user: AuthenticatedUser, tags: Tags, body: Body[ManageTagsRequest]
) -> TagReplacement:
    """Replace a tag of a list's contacts by another; with one of the two, only remove or add it."""
    return await tags.replace(user.account_id, list_id, body)
