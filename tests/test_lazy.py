"""Attributes that are computed when they are first read."""

import threading

from bosquet._lazy import cached_property


class Slow:
    """Computes `value` when two threads have reached it."""

    def __init__(self):
        self.met = threading.Barrier(2, timeout=20)
        self.computed = 0

    @cached_property
    def value(self):
        """The computed attribute."""
        self.met.wait()
        self.computed += 1
        return "value"


def test_a_thread_does_not_wait_for_another_that_computes_the_same():
    slow, found = Slow(), []
    threads = [threading.Thread(target=lambda: found.append(slow.value)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["value", "value"]
    assert (slow.value, slow.computed) == ("value", 2)  # and is not computed again
    assert Slow.value.__doc__ == "The computed attribute."
