"""Faults that people met in other servers, each with its kind, in texts of our own."""
# ruff: noqa: RUF001 - full-width marks are what these are about

import re
from collections import Counter

import pytest
from cutting import cut, texts

from streaming.text.marks import width
from streaming.text.segmenter import Segmenter


class TestNumbersStayWhole:
    @pytest.mark.parametrize(
        "text",
        [
            "The oven runs at 220.5°C, and the tray takes 1.25 litres.",
            "It was 3.14159 then.",
            "We sold 12,350.50 of them.",
            "Open from 9:30 to 17:45 on weekdays.",
            "The break is 9:00-10:00, as always.",
            "Add 1/4 cup by 2026/03/18 please.",
            "Version v2.1.0 is out, so is 7.2.0 today.",
            "The router is at 192.0.2.20 now.",
            "She was born on May 4, 1987, in Rome.",
            "They lost 3-2 and won 3:1 later.",
            "It was -5 degrees and 0.5% of that.",
        ],
    )
    def test_in_english(self, text):
        assert texts(cut(text, first_segment_min_chars=200)) == [text]

    @pytest.mark.parametrize(
        ("text", "whole"),
        [
            ("公司去年赚了7.35亿元，今年多了0.4亿元。", ["7.35亿元", "0.4亿元"]),
            ("这台要3,480.00元，能耐38.5度的热。", ["3,480.00元", "38.5度"]),
            ("2027/05/09有1/3的可能下雨，8:15am出发。", ["2027/05/09", "1/3", "8:15am"]),
            ("总价是１２，３５０．５０元，含运费。", ["１２，３５０．５０元"]),
            ("每天９：３０开门，别迟到。", ["９：３０"]),
            ("请升级到7.2.0版，地址是192.0.2.20。", ["7.2.0版", "192.0.2.20"]),
        ],
    )
    def test_in_chinese_wherever_a_clause_may_end(self, text, whole):
        spoken = texts(cut(text, first_segment_min_chars=1, max_segment_chars=40))
        for number in whole:
            assert any(number in segment for segment in spoken)

    @pytest.mark.parametrize(
        ("deltas", "never"),
        [
            (["A cup is $4", ".", "75", " and a pot $12", ",", "350.50.", " Cash."], r"\$4|\$12"),
            (["The price is €1", ".", "299", ",", "00 today. ", "Ok."], "€1|299"),
            (["这台一共是１", "，", "２００元，含运费。"], "１"),
            (["现在是9", "：", "30，出发。"], "9"),
            (["It is 7", ".", "5 now. ", "Ok."], "7"),
        ],
    )
    def test_also_when_the_mark_is_the_last_character_so_far(self, deltas, never):
        for segment in cut(*deltas, first_segment_min_chars=1):
            assert not re.search(rf"(?:{never})[.,，：]?\Z", segment.text)


class TestSentencesEnd:
    @pytest.mark.parametrize(
        "sentences",
        [
            ["We opened on May 4, 1987.", "The shop is still here."],
            ["She scored 9.", "He scored 10."],
            ["Is it late?", "No!", "It is early."],
            ["What?!", "No way!!!", "Fine."],
            ["He asked “why?” and left.", "Nobody knew."],
            ["“I am here.”", "“So am I.”", "Good."],
            ['"Go!" she said.', '"Now?" he asked.'],
            ["It rained (a lot).", "(Really a lot.)", "We stayed in."],
            ["So am I.", "Bob too."],
            ["Vitamin C.", "It helps."],
            ["hi there.", "how are you?", "i'm fine."],
            ["Wait ... what is that?", "Fine ... go on."],
            ["I waited...", "Nothing came."],
            ["Привет.", "Как дела?", "Хорошо."],
            ["¿Qué tal?", "¡Muy bien!", "Gracias."],
        ],
    )
    def test_where_a_reader_would_say(self, sentences):
        assert texts(cut(" ".join(sentences))) == sentences

    @pytest.mark.parametrize(
        "sentences",
        [
            ["你好！", "你是谁？", "我是小明。", "再见。"],
            ["“你好！”", "他说。", "“再见。”"],
            ["他说：“走吧。”", "然后出门了。"],
            ["（真的吗？）", "是的。", "『好。』", "「不好！」"],
            ['他说："走吧。"', "她笑了。"],
            ["第一；", "第二；", "第三。"],
            ["今天很冷……", "多穿点。"],
            ["真的？！", "太好了！！！", "走。"],
            ["こんにちは。", "元気ですか？", "はい。"],
            ["这是真的吗?", "是的!", "好."],
        ],
    )
    def test_in_chinese_and_japanese_without_a_blank(self, sentences):
        assert texts(cut("".join(sentences))) == sentences

    @pytest.mark.parametrize(
        "deltas",
        [
            ["Two came.", "The first left.", "The next stayed."],
            ["I know.", "Do you?", "Yes!", "Good."],
        ],
    )
    def test_where_a_sentence_follows_without_a_blank(self, deltas):
        assert texts(cut("".join(deltas))) == deltas

    def test_a_hesitation_is_no_sentence(self):
        assert texts(cut("嗯……好吧。")) == ["嗯……好吧。"]
        assert texts(cut("我……我不知道。")) == ["我……我不知道。"]
        assert texts(cut("Well... I think so. Ok.")) == ["Well... I think so.", "Ok."]

    def test_full_width_marks_in_english_are_their_ascii_twins(self):
        assert texts(cut("The cat's bowl is full。Empty it，please。")) == [
            "The cat's bowl is full。",
            "Empty it，please。",
        ]

    def test_single_marks_that_come_as_deltas_of_their_own_count(self):
        assert texts(cut("外面很冷", "，", "多穿点", "。", "出门吗", "？")) == [
            "外面很冷，多穿点。",
            "出门吗？",
        ]


class TestNoSentenceEnds:
    @pytest.mark.parametrize(
        "sentences",
        [
            ["Mr.Ortega met Dr. Lin at 5 p.m. in St. Paul.", "They talked for an hour."],
            ["Mrs. Gray and Prof. Hall came with Lt. Ames.", "Rev. Fox did not."],
            ["J. K. Rowling and John F. Kennedy never met.", "A pity."],
            ["He left the U.S. Army in the U.K. last year.", "He is back."],
            ["They live in the U.S.", "They work in the U.K.", "It is far."],
            ["See you at 5 p.m. Tuesday or 9 a.m. EST.", "Bye."],
            ["We met at 5 p.m.", "Bring the book."],
            ["See Ruiz et al. [2019] for tests, e.g. with No. 5 vs. No. 6.", "It is short."],
            ["Acme Inc. bought Bolt Ltd. and Nut Co. today.", "Stocks rose."],
            ["Apples, pears, etc. are fruit.", "Cars, bikes, etc.", "We sell both."],
            ["In Fig. 3 and Eq. 5 of Vol. 2, pp. 5 to 9, it holds.", "So we go on."],
            ["On Jan. 5 and Sept. 9 we rest.", "Then we work."],
            ["Is it no. 5?", "No. I said no.", "No. 5 is me."],
            ["Sam Davis Jr. sang for the Ph.D. students.", "They cheered."],
            ["A cat (e.g. Tom) sat, i.e. rested.", "Ok."],
            ["He is 6 ft. tall and weighs 150 lbs. at most.", "Really."],
        ],
    )
    def test_at_an_abbreviation(self, sentences):
        expected = [part for each in sentences for part in re.split(r"(?<=No\.) (?=I)", each)]
        assert texts(cut(" ".join(sentences), text_mode="sentence")) == expected

    @pytest.mark.parametrize(
        "sentences",
        [
            ["Write to ana.b@example.org or visit help.example.org/faq.", "We reply soon."],
            ["Go to https://example.com/a.b?c=1.5&d=2!x,y;z.", "Then come back."],
            ["We use Node.js, ASP.NET and .NET on example.com.", "It works."],
            ["Open main.py, README.md and a.tar.gz.", "Done."],
            ["Your key is a.1093847561029384756102938475610293847561zz.", "Keep it safe."],
            ["请看https://example.com/x?y=1。", "用Node.js写的。", "写信到a.b@example.org。"],
            ["调用get_city_code，再看C++、C#、.NET。", "好。"],
        ],
    )
    def test_inside_an_address_or_a_name(self, sentences):
        blank = "" if "。" in sentences[0] else " "
        assert texts(cut(blank.join(sentences), text_mode="sentence")) == sentences

    def test_at_the_number_of_a_list_item(self):
        assert texts(cut("1. Open it\n2. Close it\n3. Go")) == [
            "1. Open it",
            "2. Close it",
            "3. Go",
        ]
        assert texts(cut("Steps: 1. Open it. 2. Close it.")) == [
            "Steps: 1. Open it.",
            "2. Close it.",
        ]
        assert texts(cut("1.苹果\n2.香蕉")) == ["1.苹果", "2.香蕉"]


class TestLines:
    def test_a_line_end_ends_a_unit(self):
        lines = ["好的，我念一下。", "周一：9:00-10:00，跑步，地点：操场", "10:30-11:30，画画"]
        segmenter = Segmenter()
        early = [segment for line in lines for segment in segmenter.append(line + "\n", 0.0)]
        assert texts(early) == lines[:2]
        assert texts(segmenter.end(0.0)) == lines[2:]

    def test_a_blank_line_ends_a_paragraph(self):
        segments = cut("One.\n\nTwo.\r\n\r\nThree\n \nFour.\nFive.\r\nSix")
        assert [segment.ending for segment in segments] == [
            "paragraph",
            "paragraph",
            "paragraph",
            "sentence",
            "sentence",
            "end",
        ]


class TestWordless:
    def test_emoji_never_reach_a_model_and_leave_no_hole(self):
        segments = cut("Great! ", "🎉🎉", " ", "\n\n", " See you.")
        assert texts(segments) == ["Great!", "See you."]
        assert [segment.index for segment in segments] == [0, 1]
        assert [segment.source for segment in segments] == ["Great!", " 🎉🎉 \n\n See you."]

    @pytest.mark.parametrize(
        "text", ["……", "?!", "   \n\t", "。", "🙂", "—", "\u200b", "( )", "====", ""]
    )
    def test_a_text_without_a_word_has_no_segments(self, text):
        assert cut(text) == []

    def test_an_emoji_that_touches_its_sentence_belongs_to_it(self):
        segments = cut("太好了！🎉👨‍👩‍👧走吧")
        assert [segment.source for segment in segments] == ["太好了！🎉👨‍👩‍👧", "走吧"]
        assert texts(segments) == ["太好了！", "走吧"]

    def test_what_touches_the_first_word_is_spoken_with_it(self):
        assert texts(cut("** - “-5 is cold.”")) == ["“-5 is cold.”"]


class TestTooLong:
    LIST = ", ".join(
        f"the {colour} {thing}"
        for thing in ("cart", "lamp", "door", "boat", "stone")
        for colour in ("red", "blue", "green", "old", "tall", "small", "bright", "big")
    )

    def test_is_cut_at_clause_marks_with_every_word_once(self):
        segments = cut(self.LIST)
        assert Counter(" ".join(texts(segments)).split()) == Counter(self.LIST.split())
        assert all(width(text) <= 200 for text in texts(segments))
        assert all(text.endswith(",") for text in texts(segments)[:-1])

    def test_else_at_white_space(self):
        segments = cut(self.LIST.replace(",", ""), max_segment_chars=50)
        assert " ".join(texts(segments)) == self.LIST.replace(",", "")
        assert {segment.ending for segment in segments[:-1]} == {"forced"}
        assert all(25 < width(text) <= 50 for text in texts(segments)[:-1])

    def test_chinese_counts_double_and_is_cut_between_characters(self):
        segments = cut("春眠不觉晓处处闻啼鸟" * 20)
        assert [len(segment.text) for segment in segments] == [100, 100]

    def test_a_word_longer_than_the_limit_is_cut_at_a_grapheme(self):
        segments = cut("e\u0301" * 30, max_segment_chars=25)
        assert [len(segment.text) for segment in segments] == [24, 24, 12]

    def test_numbers_and_words_in_chinese_are_not_cut(self):
        text = "这个数字是" + "12345678901234567890" + "个苹果和香蕉和" * 3
        assert any(
            "12345678901234567890" in each for each in texts(cut(text, max_segment_chars=30))
        )
