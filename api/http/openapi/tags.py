"""The groups of the OpenAPI document's operations, in its order."""

from wire.openapi.document import Tag

TAGS = (
    Tag("Authentication", "Access tokens for an API key and its secret, and who the caller is."),
    Tag("Keys", "The account's API keys: scopes, networks, expiry, rotation."),
    Tag("Account", "The account's settings, limits and usage, and its jobs."),
    Tag("Calls", "Start calls, list them, and control them leg by leg."),
    Tag("Streams", "Bots that listen to a live call, and texts for bots."),
    Tag("Transfers", "Transfer the customer of a call to an agent or a number."),
    Tag("Conferences", "Add members to a call, remove them, and coach them."),
    Tag("Live events", "The events of calls as a stream."),
    Tag("Numbers", "The account's numbers, and what calls to them run."),
    Tag("Flows", "Call flows, their versions, and which version calls run."),
    Tag("API requests", "Requests to customers' servers that flows send."),
    Tag("Agents", "The directory of agents, their phones, and their presence."),
    Tag("Callbacks", "Where the events of calls are sent, and dead letters."),
    Tag("Webhook log", "Every attempt to reach a customer's server, and retries."),
    Tag("Webhooks in development", "Listeners that get webhook requests without a public address."),
    Tag("Call records", "Ended calls: lists, statistics, dispositions and exports."),
    Tag("Recordings", "Recordings: lists, download and deletion."),
    Tag("Audit", "Who has done what."),
    Tag("Operations", "The installation, for its operators: nodes, engines, shards, store."),
    Tag("Contact lists", "Contact lists, and the import of their files."),
    Tag("Contacts", "Contacts, their tags, events and downloads."),
    Tag("Do not call", "The do-not-call list, with tokens of its own."),
    Tag("Messaging numbers", "Numbers on the messaging platform."),
    Tag("Message templates", "Templates of messages, and notifications of the platform."),
)
