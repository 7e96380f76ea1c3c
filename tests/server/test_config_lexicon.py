"""A lexicon in the settings, in either form."""

import pytest
from config_rig import message_of, written

from server.config import ConfigError, load


class TestTheLexicon:
    def test_is_a_list_of_tables(self, tmp_path):
        text = '[[engine.text.lexicon]]\ntext = "GIF"\nsay = "jif"\nvoice = "heart"\n'
        (line,) = load(written(tmp_path, text), {}).engine.text.lexicon
        assert (line.text, line.say, line.voice) == ("GIF", "jif", "heart")

    def test_in_the_environment_it_is_json(self):
        lexicon = '[{"text": "GIF", "arpabet": "JH IH1 F"}]'
        (line,) = load([], {"COSYSTREAM__ENGINE__TEXT__LEXICON": lexicon}).engine.text.lexicon
        assert line.arpabet == "JH IH1 F"

    def test_may_be_a_table_in_dashscopes_form(self, tmp_path):
        text = """[engine.text.lexicon]
pronunciation = [{ "重庆" = "chong2 qing4" }]
replace = [{ "今天" = "金天" }, { "GIF" = "jif" }]
"""
        lines = load(written(tmp_path, text), {}).engine.text.lexicon
        assert {(line.text, line.say, line.pinyin, line.voice) for line in lines} == {
            ("重庆", "", "chong2 qing4", ""),
            ("今天", "金天", "", ""),
            ("GIF", "jif", "", ""),
        }

    def test_that_form_in_the_environment_is_a_json_object(self):
        lexicon = '{"replace": [{"GIF": "jif"}]}'
        (line,) = load([], {"COSYSTREAM__ENGINE__TEXT__LEXICON": lexicon}).engine.text.lexicon
        assert (line.text, line.say) == ("GIF", "jif")

    @pytest.mark.parametrize(
        ("written_so", "told"),
        [
            ('{"replace": ', "DashScope's form"),
            ('{"replaced": []}', "a table of pronunciation and replace"),
            ('{"replace": [{"GIF": 1}]}', "replace[0]"),
            ('{"pronunciation": [{"天气": "tian1 qqq4"}]}', "'qqq4' is no syllable of pinyin"),
        ],
    )
    def test_what_is_neither_form_is_refused(self, written_so, told):
        with pytest.raises(ConfigError) as refused:
            load([], {"COSYSTREAM__ENGINE__TEXT__LEXICON": written_so})
        assert "engine.text.lexicon" in str(refused.value)
        assert told in str(refused.value)

    @pytest.mark.parametrize(
        "entry",
        [
            '{text = "GIF"}',
            '{text = "", say = "x"}',
            '{text = "a", tell = "x"}',
            "{text = 1}",
            '"GIF"',
        ],
    )
    def test_an_entry_that_says_nothing_is_refused(self, tmp_path, entry):
        message = message_of(written(tmp_path, f"[engine.text]\nlexicon = [{entry}]\n"))
        assert "engine.text.lexicon" in message
