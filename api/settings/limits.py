"""Limits of requests, and of what one account may have."""

from typing import Annotated

from pydantic import BaseModel, Field

from base.limit import Limit

QUOTA = "409 `quota`"


class LimitSettings(BaseModel):
    """Limits of the REST layer."""

    max_body_bytes: Annotated[int, Limit("request", "413 `too_large`")] = Field(
        262_144, ge=1_024, description="Size of the body of a request."
    )
    max_upload_bytes: Annotated[int, Limit("request", "413 `too_large`")] = Field(
        268_435_456,
        ge=1_024,
        description="Size of a file of contacts ([contact lists](contact-lists.md)).",
    )
    max_jobs: Annotated[int, Limit("account", "429 `too_many_jobs`")] = Field(
        100, ge=1, description="Background jobs of one account, waiting and running, of all kinds."
    )
    max_keys: Annotated[int, Limit("account", "409 `too_many_keys`")] = Field(
        1_000, ge=1, description="API keys of one account that have not expired."
    )
    api_requests_per_s: Annotated[float, Limit("account", "429 `request_rate`")] = Field(
        200,
        gt=0,
        description=(
            "Requests of one account to one process per second, after a burst of twice as many."
        ),
    )
    api_stranger_requests_per_s: Annotated[float, Limit("address", "wait")] = Field(
        50,
        gt=0,
        description=(
            "Requests from one address (one /64 with IPv6) to one process per second that no key"
            " authenticates, after a burst of twice as many."
        ),
    )
    api_max_requests_of_account: Annotated[int, Limit("account", "429 `too_many_requests`")] = (
        Field(
            100,
            ge=1,
            description=(
                "Requests of one account in progress in one process, with streams and downloads."
            ),
        )
    )
    api_loop_share: Annotated[float, Limit("account", "wait; after 10 s 429 `too_many`")] = Field(
        0.2,
        gt=0,
        description=(
            "Share of an event loop's time that one account's requests to one process may take,"
            " there and in the engines."
        ),
    )
    max_contact_lists: Annotated[int, Limit("account", QUOTA)] = Field(
        1_000, ge=1, description="Contact lists of one account."
    )
    max_contacts: Annotated[int, Limit("account", QUOTA)] = Field(
        5_000_000,
        ge=1,
        description=(
            "Contacts of one account. A request that exceeds it stores nothing; an import that"
            " exceeds it while it runs fails, and keeps its earlier batches."
        ),
    )
    max_contact_bytes: Annotated[int, Limit("account", QUOTA)] = Field(
        2 << 30,
        ge=1_024,
        description=(
            "Bytes of one account's contacts: the texts (names, numbers, addresses and fields), and"
            " each tag of a contact, twice and 40 bytes more."
        ),
    )
    max_stored_bytes: Annotated[int, Limit("account", QUOTA)] = Field(
        4 << 30,
        ge=1_024,
        description=(
            "Bytes of one account in files, in the rejected rows of their imports (each with 128"
            " bytes more) and in exports (of contacts and of call records, for the week that they"
            " are kept). An import that exceeds it fails, and an export is deleted."
        ),
    )
    max_documents: Annotated[int, Limit("account", QUOTA)] = Field(
        20_000,
        ge=1,
        description=(
            "How many flows, API requests, agents, messaging numbers and message templates an"
            " account may have, of each kind."
        ),
    )
    max_document_bytes: Annotated[int, Limit("account", QUOTA)] = Field(
        1 << 26,
        ge=1_024,
        description=(
            "Bytes of an account's documents, of all kinds together, with all kept versions of"
            " flows and those of flows deleted within a week. The engines' store has them, too."
        ),
    )
    max_deleted_documents: Annotated[int, Limit("account", "409 `quota`, to new ones")] = Field(
        100_000,
        ge=1,
        description=(
            "Documents of an account, of all kinds, that were deleted within 90 days: engines that"
            " were away learn of each deletion."
        ),
    )
    max_dnc_entries: Annotated[int, Limit("account", QUOTA)] = Field(
        1_000_000,
        ge=1,
        description=(
            "Entries of an account's do-not-call list that are made over REST, one for each number"
            " and provider, also those that were taken off."
        ),
    )
    max_idempotency_keys: Annotated[int, Limit("account", QUOTA)] = Field(
        1_000_000,
        ge=1,
        description="Idempotency keys of one account within 24 hours.",
    )
    audit_entries_per_min: Annotated[int, Limit("account", "one entry with their number")] = Field(
        300,
        ge=1,
        description=(
            "Entries of one account that one process adds to the audit trail per minute, after a"
            " burst of ten times as many; of more there is one entry a minute for each caller,"
            " action and outcome, with their number."
        ),
    )
    test_sends_per_min: Annotated[int, Limit("account", "429 `test_rate`")] = Field(
        10, ge=1, description="Test messages of one account from one process per minute."
    )
