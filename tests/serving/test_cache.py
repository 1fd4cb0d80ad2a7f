"""The cache with a limit in bytes: what it keeps, what it evicts, and that nothing is computed twice."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.errors import Cancelled
from bartviz.serving.cache import ByteCache, content_key


def test_keeps_what_fits_and_forgets_the_longest_unused() -> None:
    cache = ByteCache[bytes](100)
    for key in "abc":
        cache.get(key, lambda: b"x" * 40, len)
    assert cache.bytes == 80
    assert cache.peek("a") is None
    assert cache.peek("b") == b"x" * 40  # and b is the last used now
    cache.get("d", lambda: b"y" * 40, len)
    assert (cache.peek("b"), cache.peek("c")) == (b"x" * 40, None)


def test_a_value_larger_than_the_limit_is_returned_but_not_cached() -> None:
    cache = ByteCache[bytes](100)
    cache.get("small", lambda: b"x" * 60, len)
    assert cache.get("large", lambda: b"x" * 101, len) == b"x" * 101
    assert (cache.bytes, len(cache)) == (60, 1)


def test_eight_threads_that_ask_at_once_get_one_value_made_once() -> None:
    cache = ByteCache[list[int]](100)
    made: list[int] = []
    asked = threading.Barrier(9)
    proceed = threading.Event()
    values: list[list[int]] = []

    def make() -> list[int]:
        made.append(1)
        proceed.wait(10)
        return [1, 2, 3]

    def ask() -> None:
        asked.wait(10)
        values.append(cache.get("a", make, len))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    asked.wait(10)
    proceed.set()
    for thread in threads:
        thread.join(10)
    assert len(made) == 1
    assert len(values) == 8
    assert all(value is values[0] for value in values)


def test_an_error_reaches_its_caller_and_the_next_one_tries_again() -> None:
    cache = ByteCache[bytes](10)
    with pytest.raises(ZeroDivisionError):
        cache.get("a", lambda: bytes(1 // 0), len)
    assert cache.get("a", lambda: b"1", len) == b"1"


def test_a_waiting_caller_takes_over_when_the_first_one_fails() -> None:
    cache = ByteCache[bytes](10)
    making, fail = threading.Event(), threading.Event()
    errors: list[Exception] = []

    def broken() -> bytes:
        making.set()
        fail.wait(10)
        raise ValueError

    def first() -> None:
        try:
            cache.get("a", broken, len)
        except ValueError as error:
            errors.append(error)

    values: list[bytes] = []
    threads = [threading.Thread(target=first)]
    threads[0].start()
    making.wait(10)
    threads.append(threading.Thread(target=lambda: values.append(cache.get("a", lambda: b"ok", len))))
    threads[1].start()
    fail.set()
    for thread in threads:
        thread.join(10)
    assert (len(errors), values) == (1, [b"ok"])


def test_a_waiting_request_may_be_cancelled() -> None:
    cache = ByteCache[bytes](10)
    making, proceed = threading.Event(), threading.Event()

    def slow() -> bytes:
        making.set()
        proceed.wait(10)
        return b"1"

    thread = threading.Thread(target=lambda: cache.get("a", slow, len))
    thread.start()
    making.wait(10)
    with pytest.raises(Cancelled):
        cache.get("a", lambda: b"2", len, cancelled=lambda: True)
    proceed.set()
    thread.join(10)
    assert cache.peek("a") == b"1"


class Held:
    """A value that can be watched, as a record can."""


def test_what_somebody_holds_counts_after_it_has_left_and_is_found_again() -> None:
    cache = ByteCache[Held](100)
    mine = cache.get("mine", Held, lambda _: 60)
    cache.get("idle", Held, lambda _: 30)
    cache.get("new", Held, lambda _: 40)  # mine is the longest unused, and still there: the idle one leaves too
    assert (cache.bytes, len(cache)) == (100, 1)
    assert (cache.peek("idle"), cache.peek("mine")) == (None, mine)
    assert (cache.bytes, len(cache)) == (100, 2)
    del mine
    cache.get("other", Held, lambda _: 60)
    assert (cache.bytes, len(cache)) == (60, 1)


def test_what_is_held_and_larger_than_the_limit_counts_until_it_is_let_go() -> None:
    cache = ByteCache[Held](100)
    cache.get("small", Held, lambda _: 60)
    large = cache.get("large", Held, lambda _: 120)
    assert cache.bytes == 180
    cache.get("small too", Held, lambda _: 10)
    assert (cache.bytes, len(cache)) == (120, 0)
    assert cache.peek("large") is large
    del large
    cache.get("last", Held, lambda _: 10)
    assert (cache.bytes, len(cache)) == (10, 1)


def test_what_was_made_elsewhere_counts_while_it_is_held() -> None:
    cache = ByteCache[Held](100)
    cache.get("a", Held, lambda _: 60)
    own = Held()
    cache.count(own, 70)
    assert (cache.bytes, len(cache)) == (70, 0)
    del own
    assert cache.bytes == 0


def test_who_has_others_let_go_is_told_when_there_is_no_room() -> None:
    told: list[int] = []
    cache = ByteCache[Held](100, lambda: told.append(cache.bytes))
    cache.get("a", Held, lambda _: 60)
    assert told == []
    cache.get("b", Held, lambda _: 60)
    cache.get("too large", Held, lambda _: 160)
    cache.count(Held(), 50)
    assert told == [60, 220, 50]  # what nobody holds is gone at once


def test_discard_forgets_one_value() -> None:
    cache = ByteCache[bytes](10)
    cache.get("a", lambda: b"123", len)
    cache.get("b", lambda: b"45", len)
    cache.discard("a")
    cache.discard("not there")
    assert (cache.peek("a"), cache.peek("b"), cache.bytes, len(cache)) == (None, b"45", 2, 1)


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 130)), max_size=60))
def test_the_bytes_are_the_sum_of_what_is_kept_and_never_above_the_limit(asked: list[tuple[str, int]]) -> None:
    cache = ByteCache[bytes](100)
    for key, size in asked:
        cache.get(key, lambda size=size: bytes(size), len)  # type: ignore[misc]
        assert cache.bytes <= 100
    kept = [value for value in map(cache.peek, "abcdefgh") if value is not None]
    assert cache.bytes == sum(map(len, kept))


def test_a_key_is_its_content() -> None:
    assert content_key("m", {"a": 1, "b": [2, None]}) == content_key("m", {"b": [2, None], "a": 1})
    keys = {
        content_key(*parts)
        for parts in (("m", "ab"), ("m", "a", "b"), ("ma", "b"), ("m", "ab", None), ("m", "ab\ud800"))
    }
    assert len(keys) == 5
    with pytest.raises(TypeError):
        content_key(object())
