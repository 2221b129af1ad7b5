"""A folder of Python's path in the processes of a trial."""
