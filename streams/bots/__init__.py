"""The bot's end of a stream: connections to customers' addresses, and their limits."""
