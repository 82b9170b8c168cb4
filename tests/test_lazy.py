"""Attributes that are computed once: no lock is left behind in a forked child."""

import os
import threading

import pytest

from submin._lazy import lazy


class Counter:
    calls = 0

    @lazy
    def value(self):
        """How often it was computed."""
        self.calls += 1
        return self.calls


def test_computed_once_for_each_instance():
    first, second = Counter(), Counter()
    assert [first.value, first.value, second.value] == [1, 1, 1]
    assert first.calls == second.calls == 1
    del first.value
    assert first.value == 2
    assert Counter.value.__doc__ == "How often it was computed."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_does_not_wait_for_a_thread_of_its_parent():
    inside, go_on = threading.Event(), threading.Event()

    class Slow:
        @lazy
        def value(self):
            if threading.current_thread() is not threading.main_thread():
                inside.set()
                go_on.wait(60)
            return 1

    thread = threading.Thread(target=lambda: Slow().value)
    thread.start()
    assert inside.wait(60)
    child = os.fork()
    if child == 0:
        os._exit(0 if Slow().value == 1 else 1)
    try:
        assert os.waitpid(child, 0)[1] == 0
    finally:
        go_on.set()
        thread.join()
