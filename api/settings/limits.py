"""Limits of requests, and of what one account may have."""

from pydantic import BaseModel, Field


class LimitSettings(BaseModel):
    """Limits of the REST layer."""

    max_body_bytes: int = Field(262_144, ge=1_024, description="Size of the body of a request.")
    max_upload_bytes: int = Field(
        268_435_456,
        ge=1_024,
        description="Size of a file of contacts ([contact lists](contact-lists.md)).",
    )
    max_jobs: int = Field(
        100,
        ge=1,
        description=(
            "Background jobs of one account, waiting and running, of all kinds; one more is 429."
        ),
    )
    max_keys: int = Field(
        1_000, ge=1, description="API keys of one account that have not expired; one more is 409."
    )
    api_requests_per_s: float = Field(
        200,
        gt=0,
        description=(
            "Requests of one account to one process per second, after a burst of twice as many;"
            " more are 429, `request_rate`."
        ),
    )
    api_max_requests_of_account: int = Field(
        100,
        ge=1,
        description=(
            "Requests of one account in progress in one process, with streams and downloads; more"
            " are 429, `too_many_requests`."
        ),
    )
    max_contact_lists: int = Field(
        1_000, ge=1, description="Contact lists of one account; one more is 409, `quota`."
    )
    max_contacts: int = Field(
        5_000_000,
        ge=1,
        description=(
            "Contacts of one account; more is 409, `quota`, and stores nothing. An import that"
            " exceeds the limit while it runs fails, and keeps its earlier batches."
        ),
    )
    max_stored_bytes: int = Field(
        4 << 30,
        ge=1_024,
        description=(
            "Bytes of one account in files and exports (of contacts and of call records, for the"
            " week that they are kept); more is 409, `quota`. An export that exceeds it is deleted."
        ),
    )
    max_documents: int = Field(
        20_000,
        ge=1,
        description=(
            "How many flows, how many API requests and how many agents an account may have; one"
            " more is 409, `quota`."
        ),
    )
    max_document_bytes: int = Field(
        1 << 28,
        ge=1_024,
        description=(
            "Bytes of an account's flows, with all kept versions and those of flows deleted within"
            " a week, and of each other kind of documents; more is 409, `quota`."
        ),
    )
    test_sends_per_min: int = Field(
        10,
        ge=1,
        description=(
            "Test messages of one account from one process per minute; more are 429, `test_rate`."
        ),
    )
