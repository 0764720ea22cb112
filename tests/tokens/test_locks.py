from __future__ import annotations

import threading

from priompt_py.tokens.locks import ForkLock


def test_one_thread_at_a_time_which_may_enter_again() -> None:
    lock, order = ForkLock(), list[str]()

    def other() -> None:
        with lock:
            order.append("other")

    with lock, lock:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "other"]
