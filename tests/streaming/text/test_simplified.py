# ruff: noqa: RUF001 - characters that look like others are meant
import pytest
from opencc import OpenCC

from streaming.text.normal.aligned import Aligned
from streaming.text.normal.simplified import TABLE, simplify


def simplified(text):
    aligned = Aligned(text)
    simplify(aligned)
    return aligned.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("銀行的行長長大了", "银行的行长长大了"),
        ("重慶麵條，臺灣髮型", "重庆面条，台湾发型"),
        ("甚麼時候瞭解", "什么时候了解"),
        ("乾隆年間，乾淨的衣服", "乾隆年间，干净的衣服"),
        ("看著著名的著作", "看着著名的著作"),
        ("简体字 and English 5", "简体字 and English 5"),
        ("ascii", "ascii"),
    ],
)
def test_traditional_characters_become_simplified(text, expected):
    assert simplified(text) == expected


def test_the_table_is_that_of_opencc():
    converter = OpenCC("t2s")
    ours = {chr(code): char for code, char in TABLE.items()}
    differ = {char for char, twin in ours.items() if converter.convert(char) != twin}
    assert differ <= set("妳乾僞瞭裏麽喫麪爲衆僞啓牀羣峯綫説産卽旣祕纔脣滙鷄")
    assert len(ours) > 1_900
