"""The webhook log: an account's requests to its own servers, which it may read and repeat."""
