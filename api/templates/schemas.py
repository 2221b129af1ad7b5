"""Requests and views of templates, with the names of the REST interface."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field
from pydantic import BaseModel, ConfigDict, Field

from api.cdrs.schemas import PlainText
from api.common.projection import project
from api.common.timestamps import format_ms
from api.templates.components.model import Format
from api.templates.store import Template
from wire.base import Name
from wire.base import Text as AnyScalar
from wire.decoding import patterns
from wire.phone_numbers.written_number import MAX_CHARS

Category = Literal[
    "AUTHENTICATION", "MARKETING", "UTILITY", "authentication", "marketing", "utility"
]
TemplateName = Annotated[
    str, Meta(max_length=512, pattern=patterns.TEMPLATE_NAME, description="a-z, 0-9 and _")
]
Language = Annotated[str, Meta(pattern=patterns.TEMPLATE_LANGUAGE)]
SubCategory = Annotated[str, Meta(pattern=patterns.TEMPLATE_SUBCATEGORY)]
RawComponents = Annotated[
    list[str | dict[str, Any]],
    Meta(
        max_length=8,
        description="Each an object, a string that contains one as JSON, or the name of one that a"
        " text field replaces.",
    ),
]
Text = Annotated[str, Meta(min_length=1, max_length=1_024)]
Values = Annotated[
    dict[Annotated[str, Meta(max_length=64)], Annotated[AnyScalar, Meta(max_length=2_000)]],
    Meta(max_length=100),
]
MAX_LIMIT = 1_000


class NewTemplate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A template to create; `headerText`, `bodyText` and `footerText` replace components."""

    name: TemplateName
    language: Language
    category: Category
    phone_number_id: Name = field(name="phoneNumberId")
    parameter_format: Format = "POSITIONAL"
    sub_category: SubCategory | None = None
    platform_template_id: Name | None = field(name="platformTemplateId", default=None)
    is_primary_device_delivery_only: bool = False
    components: RawComponents | None = None
    header_text: Text | None = field(name="headerText", default=None)
    body_text: Text | None = field(name="bodyText", default=None)
    footer_text: Text | None = field(name="footerText", default=None)


class TemplateChange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields to change; omitted ones keep their values, a text of null removes its component.

    Name and language cannot change; their current values are accepted.
    """

    name: TemplateName | UnsetType = UNSET
    language: Language | UnsetType = UNSET
    category: Category | UnsetType = UNSET
    phone_number_id: Name | UnsetType = field(name="phoneNumberId", default=UNSET)
    parameter_format: Format | UnsetType = UNSET
    sub_category: SubCategory | UnsetType | None = UNSET
    is_primary_device_delivery_only: bool | UnsetType = UNSET
    components: RawComponents | UnsetType = UNSET
    header_text: Text | UnsetType | None = field(name="headerText", default=UNSET)
    body_text: Text | UnsetType = field(name="bodyText", default=UNSET)
    footer_text: Text | UnsetType | None = field(name="footerText", default=UNSET)


class TestMessageRequest(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """A test message to send."""

    template_id: Annotated[str, Meta(min_length=1, max_length=64)]
    phone_number: Annotated[str, Meta(min_length=4, max_length=MAX_CHARS)]
    variable_values: Values = {}
    sender_phone_number_id: Name | None = None


class TestMessageResult(Struct, frozen=True, rename="camel"):
    """A message that the platform accepted; delivery is reported elsewhere."""

    message_id: str
    message_status: str | None
    phone_number: str


class UploadResult(Struct, frozen=True, rename="camel"):
    """An uploaded file of a header; a component's example refers to it by the handle."""

    handle: str
    media_kind: str
    mime_type: str
    size: int


class SyncResult(Struct, frozen=True):
    """The result of a synchronization.

    `missing` are stored templates that the platform does not have; `unknown` counts templates of
    the platform that are not stored.
    """

    checked: int
    updated: int
    missing: tuple[str, ...]
    unknown: int


class TemplateView(Struct, frozen=True):
    """A stored template; `status` and `statusReason` are the platform's values."""

    id: str
    name: str
    language: str
    category: str
    sub_category: str | None
    phone_number_id: str = field(name="phoneNumberId")
    parameter_format: str
    platform_template_id: str | None = field(name="platformTemplateId")
    is_primary_device_delivery_only: bool
    components: list[dict[str, Any]]
    header_text: str | None = field(name="headerText")
    body_text: str | None = field(name="bodyText")
    footer_text: str | None = field(name="footerText")
    status: str | None
    status_reason: str | None = field(name="statusReason")
    created_at: str = field(name="createdAt")
    updated_at: str = field(name="updatedAt")


class TemplatePage(Struct, frozen=True):
    """A page of templates, newest first."""

    data: tuple[TemplateView, ...]
    total: int
    limit: int
    offset: int


class TemplateListQuery(BaseModel):
    """A page of the list; an empty filter matches any."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: PlainText = Field(description="Part of a name.")
    category: PlainText
    status: PlainText = Field(description="As the platform spells it.")
    phone_number_id: PlainText = Field("", alias="phoneNumberId")
    limit: int = Field(100, ge=1, le=MAX_LIMIT)
    offset: int = Field(0, ge=0, le=2**53 - 1)


def template_view(template: Template) -> TemplateView:
    """Return a template's view, with the texts of its components as separate fields."""
    texts = {
        str(each.get("type", "")).upper(): each.get("text")
        for each in template.components
        if isinstance(each.get("text"), str)
    }
    return project(
        TemplateView,
        template,
        header_text=texts.get("HEADER"),
        body_text=texts.get("BODY"),
        footer_text=texts.get("FOOTER"),
        created_at=format_ms(template.created_ms),
        updated_at=format_ms(template.updated_ms),
    )
