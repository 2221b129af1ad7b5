"""What an engine counts and traces of itself; every part may use it, and it knows none of them."""
