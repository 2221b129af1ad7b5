"""`/srmain/msgapp_templates`: templates; each account sees its own (docs/messaging.md)."""

from typing import Annotated

from fastapi import Query

from api.auth.dependencies import AuthenticatedUser
from api.http.routes import Body, Routes
from api.numbers.schemas import DeletionResult
from api.templates import examples
from api.templates.dependencies import BASE, PLATFORM_ERRORS, Slice, TemplateId
from api.templates.schemas import (
    NewTemplate,
    TemplateChange,
    TemplateListQuery,
    TemplatePage,
    TemplateView,
)

routes = Routes("Message templates")


@routes.post(
    BASE,
    id="templates.create",
    scope="templates:write",
    status=201,
    errors=(*PLATFORM_ERRORS, 409),
    example=examples.NEW,
    idempotent=True,
)
async def create_template(
    user: AuthenticatedUser, services: Slice, body: Body[NewTemplate]
) -> TemplateView:
    """Create a template.

    It is checked here, created on the messaging platform, and stored with the platform's status.
    """
    return await services.templates.create(user.account_id, body)


@routes.get(BASE, id="templates.list", scope="templates:read")
async def list_templates(
    user: AuthenticatedUser, query: Annotated[TemplateListQuery, Query()], services: Slice
) -> TemplatePage:
    """List templates, newest first."""
    return await services.templates.list(user.account_id, query)


@routes.get(f"{BASE}/{{id}}", id="templates.get", scope="templates:read", errors=(404,))
async def get_template(
    template_id: TemplateId, user: AuthenticatedUser, services: Slice
) -> TemplateView:
    """Show a template as it is stored."""
    return await services.templates.get(user.account_id, template_id)


@routes.patch(
    f"{BASE}/{{id}}",
    id="templates.update",
    scope="templates:write",
    errors=(*PLATFORM_ERRORS, 404, 409),
    example=examples.CHANGE,
)
async def change_template(
    template_id: TemplateId,
    user: AuthenticatedUser,
    services: Slice,
    body: Body[TemplateChange],
) -> TemplateView:
    """Change a template.

    A change of its content is made on the messaging platform, too.
    """
    return await services.templates.change(user.account_id, template_id, body)


@routes.delete(
    f"{BASE}/{{id}}", id="templates.delete", scope="templates:write", errors=(*PLATFORM_ERRORS, 404)
)
async def delete_template(
    template_id: TemplateId, user: AuthenticatedUser, services: Slice
) -> DeletionResult:
    """Delete a template, here and on the messaging platform, in its one language."""
    return await services.templates.delete(user.account_id, template_id)
