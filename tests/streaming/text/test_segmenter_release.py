"""When text is let go: by mode, by mark, by waiting, by flush and by end."""
# ruff: noqa: RUF001 - full-width marks are part of the texts

import pytest
from cutting import cut, texts

from streaming.text.segmenter import Segmenter

LONG_FIRST = "When the first snow of the winter has come at last, we go out. Then, tired, we sleep."


class TestModes:
    def test_auto_lets_the_first_clause_go_early_then_sentences(self):
        assert texts(cut(LONG_FIRST)) == [
            "When the first snow of the winter has come at last,",
            "we go out.",
            "Then, tired, we sleep.",
        ]

    def test_a_first_clause_shorter_than_the_minimum_stays_with_its_sentence(self):
        short = "The fridge stays at 3.5°C, and this pan holds 2.75 litres."
        assert texts(cut(short)) == [short]
        assert len(cut(short, first_segment_min_chars=20)) == 2

    def test_the_first_clause_goes_as_soon_as_its_mark_is_sure(self):
        segmenter = Segmenter(first_segment_min_chars=10)
        assert segmenter.append("今天天气很好，", 0.0) == []
        (first,) = segmenter.append("我", 0.0)
        assert (first.text, first.ending) == ("今天天气很好，", "clause")

    def test_sentence_lets_whole_sentences_go(self):
        assert texts(cut(LONG_FIRST, text_mode="sentence"))[0].endswith("we go out.")

    def test_manual_waits_for_flush_and_end_and_then_cuts_into_sentences(self):
        segmenter = Segmenter(text_mode="manual", max_delay_ms=100)
        assert segmenter.append("One. Two. ", 0.0) == []
        assert segmenter.due_s() is None
        assert texts(segmenter.flush(1.0)) == ["One.", "Two."]
        assert segmenter.append("Three.", 2.0) == []
        assert texts(segmenter.end(3.0)) == ["Three."]


class TestCertainty:
    @pytest.mark.parametrize(
        "text", ["All done. ", "Is it? ", "It was 1987. ", "好了。走", "One.The "]
    )
    def test_a_finished_sentence_leaves_at_once(self, text):
        assert len(Segmenter().append(text, 0.0)) == 1

    @pytest.mark.parametrize(
        "text", ["All done.", "It was $4.", "He met Mr. ", "at 5 p.m. ", "One.The"]
    )
    def test_one_that_may_go_on_does_not(self, text):
        assert Segmenter().append(text, 0.0) == []

    def test_what_was_let_go_is_not_changed_by_what_comes(self):
        segmenter = Segmenter()
        (first,) = segmenter.append("All done. ", 0.0)
        (second,) = segmenter.append("” Really. ", 0.0)
        assert (first.char_end, second.char_start) == (9, 9)


class TestIdle:
    def idle(self, text, **options):
        segmenter = Segmenter(idle_release_ms=300, **options)
        segmenter.append(text, 10.0)
        return segmenter

    @pytest.mark.parametrize("text", ["All done.", "Really?", "好了?", "Wait..."])
    def test_a_sentence_that_looks_finished_goes_after_the_idle_time(self, text):
        segmenter = self.idle(text)
        assert segmenter.due_s() == pytest.approx(10.3)
        assert segmenter.tick(10.2) == []
        assert texts(segmenter.tick(10.3)) == [text]
        assert segmenter.due_s() is None

    @pytest.mark.parametrize("text", ["好了。", "他说：“好。”", "真的？", "元気ですか？"])
    def test_where_only_a_quote_or_an_emoji_may_follow_a_third_of_it_is_enough(self, text):
        segmenter = self.idle(text)
        assert segmenter.due_s() == pytest.approx(10.1)
        assert texts(segmenter.tick(10.1)) == [text]
        assert segmenter.due_s() is None

    @pytest.mark.parametrize("text", ["It costs $4.", "at 5 p.m.", "made by Acme Inc.", "He is J."])
    def test_one_whose_stop_may_be_part_of_something_waits_longer(self, text):
        segmenter = self.idle(text)
        assert segmenter.due_s() == pytest.approx(10.9)
        assert texts(segmenter.tick(10.9)) == [text]

    @pytest.mark.parametrize(
        "text", ["Hello", "He met Mr.", "well,", "🎉", "e.g.", "Hi.👩\u200d", " "]
    )
    def test_one_that_does_not_look_finished_waits_for_text(self, text):
        assert self.idle(text).due_s() is None

    def test_more_text_begins_the_wait_anew(self):
        segmenter = self.idle("It costs $4.")
        segmenter.append("75", 10.2)
        assert segmenter.due_s() is None
        assert texts(segmenter.end(11.0)) == ["It costs $4.75"]

    def test_at_a_line_end_only_the_pause_is_open_so_the_wait_is_short(self):
        segmenter = self.idle("地点：操场\n")
        assert segmenter.due_s() == pytest.approx(10.05)
        (segment,) = segmenter.tick(10.05)
        assert (segment.text, segment.ending) == ("地点：操场", "sentence")

    def test_what_stands_after_the_sentence_stays(self):
        segmenter = self.idle("See the list at 5 p.m. Th")
        assert segmenter.due_s() == pytest.approx(10.9)
        segmenter = self.idle("Two came.The")
        assert texts(segmenter.tick(99.0)) == ["Two came."]
        assert texts(segmenter.end(100.0)) == ["The"]


class TestMaxDelay:
    def waiting(self, *timed, delay_ms=500):
        segmenter = Segmenter(max_delay_ms=delay_ms, first_segment_min_chars=40)
        for text, now_s in timed:
            assert segmenter.append(text, now_s) == []
        return segmenter

    def test_all_is_let_go_when_nothing_came_since(self):
        segmenter = self.waiting(("I went to the", 1.0))
        assert segmenter.due_s() == pytest.approx(1.5)
        assert segmenter.tick(1.4) == []
        assert texts(segmenter.tick(1.5)) == ["I went to the"]
        assert segmenter.due_s() is None

    def test_a_word_that_is_being_written_is_not_cut(self):
        segmenter = self.waiting(("I went to the ", 1.0), ("mar", 1.4))
        (segment,) = segmenter.tick(1.5)
        assert (segment.text, segment.ending) == ("I went to the", "forced")
        assert segmenter.due_s() == pytest.approx(1.9)

    def test_a_clause_mark_is_the_best_place(self):
        segmenter = self.waiting(("I went", 1.0), (", you see, to", 1.4))
        (segment,) = segmenter.tick(1.5)
        assert (segment.text, segment.ending) == ("I went, you see,", "clause")

    def test_chinese_is_cut_between_characters_but_not_in_a_number(self):
        segmenter = self.waiting(("我今天", 1.0), ("花了12", 1.4))
        assert texts(segmenter.tick(1.5)) == ["我今天花了"]

    def test_a_single_word_goes_whole_when_it_must(self):
        segmenter = self.waiting(("Won", 1.0), ("der", 1.4))
        assert texts(segmenter.tick(1.5)) == ["Wonder"]

    def test_white_space_and_marks_are_never_due(self):
        assert self.waiting((" … ", 1.0)).due_s() is None

    def test_the_time_counts_from_the_text_that_waits(self):
        segmenter = self.waiting(("  ", 1.0), ("Hi", 2.0))
        assert segmenter.due_s() == pytest.approx(2.5)


class TestFlushAndEnd:
    def test_flush_lets_all_go_and_the_context_stays_open(self):
        segmenter = Segmenter()
        segmenter.append("It is done. Now Mr", 0.0)
        assert texts(segmenter.flush(0.0)) == ["Now Mr"]
        assert texts(segmenter.append(". Lin comes. ", 0.0)) == [". Lin comes."[2:]]

    def test_after_a_flush_the_first_clause_goes_early_again(self):
        segmenter = Segmenter(first_segment_min_chars=5)
        assert (
            texts(segmenter.append("Well then, we go. Slowly, he said. ", 0.0))[0] == "Well then,"
        )
        segmenter.flush(0.0)
        assert texts(segmenter.append("And now, we rest. ", 0.0)) == ["And now,", "we rest."]

    def test_flush_of_nothing_is_nothing(self):
        segmenter = Segmenter()
        assert segmenter.flush(0.0) == []
        segmenter.append("  🎉", 0.0)
        assert segmenter.flush(0.0) == []
        assert [segment.source for segment in segmenter.end(0.0)] == []

    def test_the_last_segment_ends_the_context_and_takes_the_tail_along(self):
        segmenter = Segmenter()
        segmenter.append("See you.🎉\n", 0.0)
        (last,) = segmenter.end(0.0)
        assert (last.text, last.source, last.ending) == ("See you.", "See you.🎉\n", "end")
        assert segmenter.count == 1


class TestLanguage:
    def languages(self, text, **options):
        return [segment.language for segment in cut(text, **options)]

    def test_is_told_for_each_segment_by_its_letters(self):
        assert self.languages("Hello there. 你好。こんにちは。안녕하세요. ") == [
            "en",
            "zh",
            "ja",
            "ko",
        ]

    def test_the_contexts_own_language_decides_where_letters_do_not(self):
        assert self.languages("Um 10 Uhr. 12!", language="de") == ["de", "de"]
        assert self.languages("東京。", language="ja-JP") == ["ja"]

    def test_in_a_japanese_text_characters_alone_are_japanese(self):
        assert self.languages("傘です。東京。Hello. 12.") == ["ja", "ja", "en", "ja"]


def test_text_overdue_that_begins_with_marks_is_let_go_once():
    segmenter = Segmenter(max_delay_ms=500)
    segmenter.append("…….", 0.0)
    segmenter.append("我）htt", 0.4)
    made = segmenter.tick(0.5) + segmenter.tick(0.9)
    assert "".join(segment.source for segment in made) == "…….我）htt"
    assert segmenter.due_s() is None
