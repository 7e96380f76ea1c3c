"""Language tags."""

import pytest

from streaming.languages import primary


@pytest.mark.parametrize(
    ("tag", "expected"),
    [("zh", "zh"), ("zh-CN", "zh"), ("zh_TW", "zh"), ("EN-gb", "en"), ("auto", "auto"), ("", "")],
)
def test_the_primary_tag_is_what_stands_before_the_first_dash(tag, expected):
    assert primary(tag) == expected
