"""Documents of accounts: routes, flows, API requests, agents, callbacks, phones' credentials."""
