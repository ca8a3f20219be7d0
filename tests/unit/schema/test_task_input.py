"""What the system was asked: the same roles and texts in the same order are the same input, and nothing else is."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import pytest

from nemo_gym.rollout_compare.schema import input_label, input_labels, input_numbers, task_input


def user(content: Any, role: Any = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def label(value: Any) -> str:
    """What stands before the hash."""
    return parts(value)[0]


def parts(value: Any) -> tuple[str, str]:
    """What stands before the hash, and its digits."""
    found = task_input(value)
    assert found is not None
    text, _, digits = input_label(found).rpartition(" #")
    assert len(digits) == 16
    assert set(digits) <= set("0123456789abcdef")
    return text, digits


def digits_of(hashed: bytes) -> str:
    return blake2b(hashed, digest_size=8).hexdigest()


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
        asked = [user("\u20ac!", "system"), user("Add")]
        assert parts(asked) == ("Add", digits_of(b"6:system4:\xe2\x82\xac!4:user3:Add"))

    @pytest.mark.parametrize("length", [1, 79, 80, 81, 200])
    def test_a_user_message_of_any_length_has_the_same_kind_of_label(self, length: int) -> None:
        text = "x" * length
        for value in (text, [user(text)]):
            assert parts(value) == (text[:60], digits_of(b"4:user%d:%s" % (length, text.encode("ascii"))))

    @pytest.mark.parametrize("length", [1, 79, 80, 81, 200])
    def test_a_string_is_one_user_message_however_long(self, length: int) -> None:
        text = "x" * length
        assert task_input(text) == task_input([user(text)])
        assert task_input(text) not in {task_input(text + "x"), task_input([user(text, "system")])}

    def test_a_message_of_several_texts_is_these_lines(self) -> None:
        assert task_input([user([{"text": "one"}, {"text": "two"}])]) == task_input("one\ntwo")

    def test_half_a_surrogate_pair_is_text_too(self) -> None:
        assert task_input("\ud800") not in {None, task_input("\ud801"), task_input("?")}
        assert len({parts(text)[1] for text in ("\ud800", "\ud801", "?")}) == 3

    def test_no_short_text_can_pass_for_a_long_one(self) -> None:
        long = task_input("x" * 1000)
        assert long is not None
        assert task_input(long) != long
        assert task_input(long[1:]) != long

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
        assert parts([user("a"), user("b")])[1] != parts("a4:user1:b")[1]
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


class TestNumbers:
    VALUES: tuple[Any, ...] = (
        *("What is 2+2?", "x" * 200, "ab", "\ud800", [user("What is 2+2?", id="msg_1")], [user("x" * 200)]),
        *([user("a"), user("b")], [user("b"), user("a")], [user("ab", "system")], [user("a", 5)], [{"content": "a"}]),
        *(None, "", " \n", [], [user("")], [user(" "), user("\t", "system")], [user(5)], {"role": "user"}, 7, True),
    )

    @staticmethod
    def same(keys: Sequence[Any]) -> list[int]:
        """For each key the first that is equal to it."""
        return [keys.index(key) for key in keys]

    def test_equal_inputs_have_equal_numbers_and_no_others(self) -> None:
        numbers = list(input_numbers(self.VALUES))
        identities = [task_input(value) for value in self.VALUES]
        assert self.same(numbers) == self.same(identities)
        assert [number == 0 for number in numbers] == [identity is None for identity in identities]

    def test_neighbours_change_nothing(self) -> None:
        texts = [value for value in self.VALUES if isinstance(value, str)]
        told = [value for value in texts if value.strip()]
        alone = {value: input_numbers([value])[0] for value in texts}
        for column in (texts, told, [*told, None], [*told, [user("a")]]):
            numbers = input_numbers(column)
            assert [numbers[i] for i, value in enumerate(column) if isinstance(value, str)] == [
                alone[value] for value in column if isinstance(value, str)
            ]

    def test_no_rows_have_none(self) -> None:
        assert list(input_numbers([])) == []


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
        one, other = parts("x" * 60 + "1"), parts("x" * 60 + "2")
        assert one[0] == other[0] == "x" * 60
        assert one[1] != other[1]


class TestLabels:
    #: Inputs by what stands in `task_input` for a long one: the digits, then what is shown.
    ONE, OTHER = "#0123456789abcdefa", "#0123456789abcdefb"

    def test_eight_digits_are_shown(self) -> None:
        assert input_labels([self.ONE, self.OTHER]) == {self.ONE: "a #01234567", self.OTHER: "b #01234567"}

    def test_of_a_short_text_too(self) -> None:
        asked = task_input(" Add\n1 and 1.")
        assert asked is not None
        assert input_labels([asked]) == {asked: f"Add 1 and 1. #{digits_of(b'4:user13: Add%c1 and 1.' % 10)[:8]}"}

    def test_all_where_eight_do_not_tell_two_apart(self) -> None:
        close = "#0123456700000000a"
        assert input_labels([self.ONE, close, self.OTHER]) == {
            self.ONE: "a #0123456789abcdef",
            close: "a #0123456700000000",
            self.OTHER: "b #0123456789abcdef",
        }

    def test_none_have_none(self) -> None:
        assert input_labels([]) == {}
