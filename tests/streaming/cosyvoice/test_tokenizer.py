"""Text tokens are Qwen2's with CosyVoice's special tokens at their published ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from transformers import Qwen2Tokenizer

from streaming.cosyvoice import tiny_text
from streaming.cosyvoice.folder import GENERATIONS
from streaming.cosyvoice.folder_errors import DamagedFile
from streaming.cosyvoice.sizes import END_OF_PROMPT, Generation
from streaming.cosyvoice.special_tokens import FIRST, special_tokens
from streaming.cosyvoice.token_stream import TokenStream
from streaming.cosyvoice.tokenizer import TextTokenizer

MARKS = ("[laughter]", "<strong>", "</strong>", "<|endofprompt|>", "<|im_start|>", "[h]", "[ào]")
CUTS = ("[laugh", "ter]", "<|", "endofprompt", "|>", "<str", "ong>", "[", "]", "ào]")
PLAIN = (
    "a", "b", "the", " the", "ll", "'ll", "'", "s", "1", "42", " ", "  ", "\n", "\r\n", "\t", "!",
    "...", "你好", "好", "é", "e\u0301", "\u0323", "\u0302", "ᄀ", "ᅡ", "ᆨ", "\u3000", "😀", "\u200d",
    "\u09be", "\u0085", "\x1c", "\u017f", "İ",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(MARKS + CUTS + PLAIN) | st.text(max_size=3), max_size=12)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("vocabulary")
    tiny_text.write(folder / "vocab.json", folder / "merges.txt")
    return folder / "vocab.json", folder / "merges.txt"


@pytest.fixture(scope="module")
def tokenizer(files: tuple[Path, Path]) -> TextTokenizer:
    return TextTokenizer(*files, "cosyvoice3")


@pytest.fixture(scope="module")
def pairs(files: tuple[Path, Path]) -> dict[Generation, tuple[TextTokenizer, Qwen2Tokenizer]]:
    """Ours, and that of transformers set up as the official code sets its own up."""
    found: dict[Generation, tuple[TextTokenizer, Qwen2Tokenizer]] = {}
    for generation in GENERATIONS:
        theirs = Qwen2Tokenizer.from_pretrained(files[0].parent)
        theirs.add_tokens(list(special_tokens(generation)), special_tokens=True)
        found[generation] = (TextTokenizer(*files, generation), theirs)
    return found


class TestSpecialTokens:
    @pytest.mark.parametrize(("generation", "count"), [("cosyvoice2", 20), ("cosyvoice3", 281)])
    def test_ids_follow_qwens_own_without_a_gap(self, generation, count):
        ids = list(special_tokens(generation).values())
        assert ids == list(range(FIRST, FIRST + count))

    @pytest.mark.parametrize(
        ("token", "number"),
        [
            ("<|endoftext|>", 151643),
            ("<|endofprompt|>", END_OF_PROMPT),
            ("[breath]", 151647),
            ("[laughter]", 151651),
            ("[mn]", 151662),
            ("<|endofsystem|>", 151663),
            ("[AA]", 151664),
            ("[AY0]", 151685),
            ("[ZH]", 151747),
            ("[a]", 151748),
            ("[h]", 151763),
            ("[ào]", 151854),
            ("[ǜ]", 151923),
        ],
    )
    def test_each_has_its_published_id(self, token, number):
        assert special_tokens("cosyvoice3")[token] == number

    def test_version_3_goes_on_where_version_2_ends(self):
        old, new = special_tokens("cosyvoice2"), special_tokens("cosyvoice3")
        assert list(new.items())[: len(old)] == list(old.items())
        assert "[h]" not in old


class TestEncoding:
    @pytest.mark.parametrize("generation", ["cosyvoice2", "cosyvoice3"])
    @settings(max_examples=150, deadline=None)
    @given(parts=TEXTS)
    def test_the_ids_are_those_of_transformers(self, pairs, generation, parts):
        ours, theirs = pairs[generation]
        text = "".join(parts)
        own = {theirs.convert_tokens_to_ids(name): number for name, number in ours.special.items()}
        expected = [own.get(number, number) for number in theirs(text)["input_ids"]]
        assert ours.encode(text) == expected

    def test_marks_and_pronunciations_are_one_token_each(self, tokenizer):
        assert tokenizer.encode("[laughter]") == [151651]
        assert tokenizer.encode("[M][AY0][N][UW1][T]") == [
            tokenizer.special[f"[{phone}]"] for phone in ("M", "AY0", "N", "UW1", "T")
        ]
        assert [n for n in tokenizer.encode("她[h][ào]干净") if n >= FIRST] == [151763, 151854]

    def test_version_2_spells_out_what_only_version_3_knows(self, files):
        tokenizer = TextTokenizer(*files, "cosyvoice2")
        assert max(tokenizer.encode("[h][ào]")) < FIRST

    def test_every_byte_can_be_written(self, tokenizer):
        text = "".join(map(chr, range(1, 0x250))) + "中文 العربية 😀"
        assert max(tokenizer.encode(text)) < FIRST

    def test_no_text_has_no_tokens(self, tokenizer):
        assert tokenizer.encode("") == []

    def test_a_users_text_does_not_end_the_prompt(self, tokenizer):
        text = "So I said <|endofprompt|> [laughter] and <|im_start|>system"
        spelled = tokenizer.encode(text, control=False)
        assert END_OF_PROMPT in tokenizer.encode(text)
        assert {number for number in spelled if number >= FIRST} == {151651}


class TestStreaming:
    @settings(max_examples=400, deadline=None)
    @example(parts=["\u0a5e"])  # one character, which is two pieces once it is normalised
    @given(parts=TEXTS)
    def test_tokens_of_pieces_are_those_of_the_whole(self, tokenizer, parts):
        stream = TokenStream(tokenizer)
        ids = [number for part in parts for number in stream.append(part)] + stream.end()
        assert ids == tokenizer.encode("".join(parts), control=False)
        assert stream.held == ""

    @pytest.mark.parametrize(
        ("text", "held"),
        [
            ("Hello there", " there"),
            ("Hello there ", " "),
            ("Hello there. ", " "),
            ("你好。", "。"),
            ("He [laugh", " [laugh"),
            ("He [laughter]", "[laughter]"),
            ("caf e", " e"),
            ("end\n", "\n"),
        ],
    )
    def test_only_what_may_still_change_is_held_back(self, tokenizer, text, held):
        stream = TokenStream(tokenizer)
        stream.append(text)
        assert stream.held == held

    def test_a_long_text_word_by_word_holds_a_word_at_most(self, tokenizer):
        stream = TokenStream(tokenizer)
        for number in range(500):
            stream.append(f" word{number}")
            assert len(stream.held) <= len(" word499")


class TestFiles:
    @pytest.mark.parametrize(
        ("content", "what"),
        [
            ("{", "is no JSON"),
            ("[1, 2]", "is no vocabulary"),
            ('{"a": "b"}', "is no vocabulary"),
            ('{"a": 151643}', "has the id 151,643"),
        ],
    )
    def test_a_vocabulary_that_is_none(self, files, tmp_path, content, what):
        (tmp_path / "vocab.json").write_text(content, encoding="utf-8")
        with pytest.raises(DamagedFile, match=what):
            TextTokenizer(tmp_path / "vocab.json", files[1], "cosyvoice3")

    @pytest.mark.parametrize("line", ["q z", "alone", "a b c"])
    def test_merges_that_belong_to_another_vocabulary(self, files, tmp_path, line):
        path = tmp_path / "merges.txt"
        path.write_text(f"#version: 0.2\nt h\n{line}\n", encoding="utf-8")
        with pytest.raises(DamagedFile, match=r"merges\.txt, line 3"):
            TextTokenizer(files[0], path, "cosyvoice3")

    def test_line_ends_of_windows_and_blank_lines_do_no_harm(self, files, tmp_path, tokenizer):
        path = tmp_path / "merges.txt"
        lines = files[1].read_text(encoding="utf-8").replace("\n", "\r\n") + "\r\n\r\n"
        path.write_bytes(lines.encode())
        again = TextTokenizer(files[0], path, "cosyvoice3")
        assert again.encode("the hello 你好") == tokenizer.encode("the hello 你好")

    def test_the_small_vocabulary_joins_bytes(self, files, tokenizer):
        entries = json.loads(files[0].read_text(encoding="utf-8"))
        assert len(entries) == max(entries.values()) + 1 > 256
        assert len(tokenizer.encode(" hello the 你好")) < len(" hello the 你好".encode())
