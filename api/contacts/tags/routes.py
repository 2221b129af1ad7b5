"""Tags over REST (spec, "Contact lists and contacts")."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from api.auth.dependencies import AuthenticatedUser
from api.contacts.contacts.routes import BASE, SHOWN, slice_of
from api.contacts.ids import ListIdPath
from api.contacts.tags.schemas import ListTagsBody, ManageTagsBody
from api.contacts.tags.service import ListTags, TagReplacement, TagService
from api.http.msgspec_adapter import answer, described, reading

router = APIRouter(tags=["Contacts"])


async def _tags(request: Request) -> TagService:
    return slice_of(request).tags


Tagged = Annotated[TagService, Depends(_tags)]


@router.patch(
    f"{BASE}/{{contactListId}}/tags",
    **described(
        "Change a list's tags",
        asked=ListTagsBody,
        answered=ListTags,
        statuses=SHOWN,
        example={"tagsToAdd": ["spring"], "tagsToRemove": ["winter"]},
    ),
)
async def change(
    list_id: ListIdPath,
    who: AuthenticatedUser,
    body: Annotated[ListTagsBody, Depends(reading(ListTagsBody))],
    tags: Tagged,
) -> Response:
    """Add tags to a list and take others from it; its contacts keep their own."""
    return answer(await tags.change(who.account_id, list_id, body))


@router.patch(
    f"{BASE}/{{contactListId}}/manage-tags",
    **described(
        "Replace a tag on a list's contacts",
        asked=ManageTagsBody,
        answered=TagReplacement,
        statuses=(*SHOWN, 429),
        example={"removeTag": "new", "insertTag": "called"},
    ),
)
async def replace(
    list_id: ListIdPath,
    who: AuthenticatedUser,
    body: Annotated[ManageTagsBody, Depends(reading(ManageTagsBody))],
    tags: Tagged,
) -> Response:
    """Give the contacts that have one tag another; with one of the two, only take or give it."""
    return answer(await tags.replace(who.account_id, list_id, body))
