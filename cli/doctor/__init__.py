"""`switchroom doctor`: is everything as it should be, and if not, what to do."""
