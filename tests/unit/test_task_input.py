"""What the system was asked: the same roles and texts in the same order are the same input, and nothing else is."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import pytest

from nemo_gym.rollout_compare.task_input import short_labels, task_input


def user(content: Any, role: Any = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def label(value: Any) -> str:
    """What stands before the hash."""
    found = task_input(value)
    assert found is not None
    text, _, digits = found.rpartition(" #")
    assert len(digits) == 16
    assert set(digits) <= set("0123456789abcdef")
    return text


class TestWhatIsTheSame:
    @pytest.mark.parametrize(
        "value",
        [
            "What is 2+2?",
            [user("What is 2+2?", type="message", id="msg_1", status="completed")],
            [user([{"type": "input_text", "text": "What is 2+2?"}])],
            [user(["What is 2+2?"])],
            [user([{"type": "input_image", "image_url": "x"}, {"text": "What is 2+2?"}])],
            (user(({"text": "What is 2+2?"},)),),
            ["not a message", user("What is 2+2?"), None, 7],
        ],
    )
    def test_role_and_text_are_all_that_counts(self, value: Any) -> None:
        assert task_input(value) == task_input([user("What is 2+2?")])

    def test_the_digits_are_a_hash_of_roles_and_texts_each_with_its_length(self) -> None:
        digits = blake2b(b"6:system4:\xe2\x82\xac!4:user3:Add", digest_size=8).hexdigest()
        assert task_input([user("\u20ac!", "system"), user("Add")]) == f"Add #{digits}"

    def test_a_message_of_several_texts_is_these_lines(self) -> None:
        assert task_input([user([{"text": "one"}, {"text": "two"}])]) == task_input("one\ntwo")

    def test_half_a_surrogate_pair_is_text_too(self) -> None:
        assert task_input("\ud800") not in {None, task_input("\ud801"), task_input("?")}

    @pytest.mark.parametrize(
        "value",
        [
            "What is 2+2? ",
            "what is 2+2?",
            [user("What is 2+2?", "system")],
            [user("What is 2+2?", None)],
            [user("What is"), user("2+2?")],
            [user("Add.", "system"), user("What is 2+2?")],
            [user("What is 2+2?"), user("")],
        ],
    )
    def test_anything_else_is_another_input(self, value: Any) -> None:
        assert task_input(value) not in {None, task_input("What is 2+2?")}

    def test_the_order_of_messages_counts(self) -> None:
        assert task_input([user("a"), user("b")]) != task_input([user("b"), user("a")])

    def test_no_text_can_pass_for_two(self) -> None:
        assert task_input([user("a"), user("b")]) != task_input("a4:user1:b")
        assert task_input([user("b", "usera"), user("c")]) != task_input([user("ab"), user("c")])

    @pytest.mark.parametrize("role", [None, 5, ["user"]])
    def test_a_role_that_is_no_text_is_none(self, role: Any) -> None:
        assert task_input([user("a", role)]) == task_input([{"content": "a"}])


class TestUnknown:
    @pytest.mark.parametrize(
        "value",
        [
            None,
            "",
            " \n",
            [],
            [user("")],
            [user(" "), user("\t", "system")],
            [user(None)],
            [user(5)],
            [user({"text": "an object"})],
            [user([])],
            [user([{"text": 5}, 7, None, {"image": "x"}])],
            ["a list of texts"],
            [{"type": "function_call_output", "output": "x"}],
            {"role": "user", "content": "no list"},
            7,
            True,
        ],
    )
    def test_absent_or_empty_is_unknown(self, value: Any) -> None:
        assert task_input(value) is None


class TestLabel:
    def test_it_is_the_last_user_message(self) -> None:
        messages = [user("Be brief.", "system"), user("first"), user("last"), user("Yes?", "assistant")]
        assert label(messages) == "last"

    def test_a_user_message_without_text_does_not_count(self) -> None:
        assert label([user("asked"), user([{"image": "x"}])]) == "asked"

    def test_without_a_user_message_it_is_the_last_message(self) -> None:
        assert label([user("one", "system"), user("two", "developer")]) == "two"

    def test_white_space_is_collapsed(self) -> None:
        assert label("  What\n\n is\t 2+2? \u2028 ") == "What is 2+2?"

    def test_it_has_60_characters_at_most(self) -> None:
        assert label("x" * 60) == "x" * 60
        assert label("x" * 61) == "x" * 60
        assert label("x" * 1_000_000) == "x" * 60
        assert label("\u20ac" * 61) == "\u20ac" * 60

    def test_it_ends_in_no_space(self) -> None:
        assert label("x" * 59 + " y") == "x" * 59

    def test_texts_that_differ_beyond_it_have_other_digits(self) -> None:
        one, other = task_input("x" * 60 + "1"), task_input("x" * 60 + "2")
        assert one is not None
        assert other is not None
        assert one != other
        assert one[:62] == other[:62] == "x" * 60 + " #"


class TestShortLabels:
    def test_eight_digits_are_shown(self) -> None:
        assert short_labels(["a #0123456789abcdef", "b #0123456789abcdef"]) == {
            "a #0123456789abcdef": "a #01234567",
            "b #0123456789abcdef": "b #01234567",
        }

    def test_all_where_eight_do_not_tell_two_apart(self) -> None:
        labels = ["a #0123456789abcdef", "a #0123456700000000", "b #0123456789abcdef"]
        assert short_labels(labels) == {label: label for label in labels}

    def test_none_have_none(self) -> None:
        assert short_labels([]) == {}
