"""Tags of lists and of contacts: ids whose meaning the account defines."""
