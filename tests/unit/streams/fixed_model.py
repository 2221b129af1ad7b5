"""A detector of voices with one opinion."""

from array import array


class FixedModel:
    """It has the same opinion of all windows, until a test changes it."""

    window_size_samples = 256

    def __init__(self, probability: float) -> None:
        self.probability = probability
        self.windows = 0
        self.heard = array("f")
        self.resets = 0

    def process(self, data: "array[float]") -> float:
        assert len(data) == self.window_size_samples
        self.windows += 1
        self.heard.extend(data)
        return self.probability

    def reset(self) -> None:
        self.resets += 1
