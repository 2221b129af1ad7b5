"""What the REST layer keeps in its database and sends to the engines."""
