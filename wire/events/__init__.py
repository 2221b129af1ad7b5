"""Call events, the call record that the last one carries, and the groups that consume them."""
