"""What families of the same kind share: their buckets, and the labels of a place."""

# Seconds. From what one request takes inside a machine to what a caller would call dead air.
QUICK = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
SLOW = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0)
LATE = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)
SIZE = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PLACE = ("node", "slot")
