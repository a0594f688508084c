"""Tokens let one browser in, once; a session is a cookie that ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.web.server.sessions import (
    EVERYWHERE_MOST,
    FROM_MOST,
    IDLE,
    LIFE,
    NOTE_INTERVAL,
    STRANGER_INTERVAL,
    WRONG_MOST,
    WRONG_WITHIN,
    LoginThrottle,
    RefusedRequests,
    Sessions,
)


class Clock:
    """A clock that is set by hand."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sessions(clock: Clock) -> Sessions:
    return Sessions("es", clock)


def test_nobody_comes_in_before_a_token_was_made(sessions: Sessions) -> None:
    assert sessions.enter("") is None
    assert sessions.of("") is None


def test_a_token_opens_one_session_once(sessions: Sessions) -> None:
    token = sessions.new_token()
    session = sessions.enter(token)
    assert session is not None
    assert sessions.of(session.id) is session
    assert sessions.enter(token) is None


def test_a_wrong_guess_does_not_shut_out_whoever_holds_the_token(sessions: Sessions) -> None:
    token = sessions.new_token()
    assert sessions.enter(token[:-1]) is None
    assert sessions.enter("contraseña") is None
    assert sessions.enter(token) is not None


def test_a_new_token_makes_the_one_before_it_worthless(sessions: Sessions) -> None:
    first = sessions.new_token()
    second = sessions.new_token()
    assert sessions.enter(first) is None
    assert sessions.enter(second) is not None


def test_a_session_ends_after_its_life_and_not_before(sessions: Sessions, clock: Clock) -> None:
    session = sessions.enter(sessions.new_token())
    assert session is not None
    clock.now += LIFE - 1
    assert sessions.of(session.id) is session
    clock.now += 1
    assert sessions.of(session.id) is None
    clock.now -= LIFE  # nor does it come back when a clock is set
    assert sessions.of(session.id) is None


def test_two_sessions_share_neither_secrets_nor_files(sessions: Sessions) -> None:
    first, second = (sessions.enter(sessions.new_token()) for _ in range(2))
    assert first is not None
    assert second is not None
    assert len({first.id, second.id, first.csrf, second.csrf}) == 4
    assert min(map(len, (first.id, first.csrf))) >= 43  # 256 bits
    first.downloads["t"] = ("x", "x")
    assert second.downloads == {}


@given(st.text())
def test_no_text_but_the_token_comes_in(guess: str) -> None:
    sessions = Sessions("es", lambda: 0.0)
    token = sessions.new_token()
    assert (sessions.enter(guess) is not None) == (guess == token)


def test_a_look_of_the_page_itself_keeps_no_session_alive() -> None:
    now = [0.0]
    sessions = Sessions("es", lambda: now[0])
    made = sessions.open("ana", "Ana Rojas", ("executor",))
    now[0] = IDLE - 1.0
    assert sessions.lasts(made)
    now[0] = IDLE + 1.0
    assert not sessions.lasts(made)
    assert sessions.of(made.id) is None


def test_a_strangers_guesses_keep_nobody_else_out(clock: Clock) -> None:
    throttle = LoginThrottle(clock)
    for _ in range(WRONG_MOST):
        throttle.count_wrong("login ana", "10.0.0.66")
    assert throttle.is_blocked("login ana", "10.0.0.66")
    assert not throttle.is_blocked("login ana", "10.0.0.1")
    clock.now += WRONG_WITHIN
    assert not throttle.is_blocked("login ana", "10.0.0.66")


def test_guesses_at_one_account_from_many_places_shut_it_for_all(clock: Clock) -> None:
    throttle = LoginThrottle(clock)
    for number in range(EVERYWHERE_MOST):
        assert not throttle.is_blocked("login ana", "10.0.0.1")
        throttle.count_wrong("login ana", f"10.0.1.{number}")
    assert throttle.is_blocked("login ana", "10.0.0.1")
    assert not throttle.is_blocked("login beto", "10.0.0.1")


def test_guesses_from_one_place_at_many_accounts_shut_that_place(clock: Clock) -> None:
    throttle = LoginThrottle(clock)
    for number in range(FROM_MOST):
        throttle.count_wrong(f"login n{number}", "10.0.0.66")
    assert throttle.is_blocked("login ana", "10.0.0.66")
    assert not throttle.is_blocked("login ana", "10.0.0.1")


def test_what_has_no_address_is_counted_for_its_own_alone(clock: Clock) -> None:
    throttle = LoginThrottle(clock)
    for number in range(FROM_MOST):
        throttle.count_wrong(f"password of n{number}", "")
    assert not throttle.is_blocked("password of ana", "")
    for _ in range(WRONG_MOST):
        throttle.count_wrong("key ana", "")
    assert throttle.is_blocked("key ana", "")


def test_a_right_password_forgets_the_wrong_ones(clock: Clock) -> None:
    throttle = LoginThrottle(clock)
    for _ in range(WRONG_MOST):
        throttle.count_wrong("login ana", "10.0.0.1")
    throttle.forget_wrong("login ana", "10.0.0.1")
    assert not throttle.is_blocked("login ana", "10.0.0.1")


def test_an_attempt_at_a_blocked_login_is_noted_once_a_minute(clock: Clock) -> None:
    throttle = LoginThrottle(clock)
    assert [throttle.is_to_be_noted("ana", "10.0.0.1") for _ in range(3)] == [True, False, False]
    assert throttle.is_to_be_noted("ana", "10.0.0.2")
    clock.now += NOTE_INTERVAL
    assert throttle.is_to_be_noted("ana", "10.0.0.1")


def test_what_the_guard_refuses_is_counted_and_told_now_and_then(clock: Clock) -> None:
    breaches = RefusedRequests(clock)
    assert [breaches.count_to_note("", "host") for _ in range(1_000)] == [1, *[0] * 999]
    assert breaches.count_to_note("ana", "host") == 1  # an account is not hidden by the noise of strangers
    assert breaches.count_to_note("ana", "csrf") == 1
    clock.now += NOTE_INTERVAL
    assert (breaches.count_to_note("ana", "host"), breaches.count_to_note("", "host")) == (1, 0)
    clock.now += STRANGER_INTERVAL
    assert breaches.count_to_note("", "host") == 1_001
    assert breaches.count_to_note("", "host") == 0
