"""Tags of lists and of contacts: ids that the account gives a meaning."""
