"""The store's twin in memory, for tests and simulation."""
