"""Settings: where they come from, which one wins, and what is said of those that cannot be."""

import dataclasses
import itertools
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from server.config import ConfigError, advice, describe, load
from server.config.keys import KEYS, SECTIONS, flat
from server.config.rules import ALLOWANCE, RULES
from server.config.sources import FLAGS
from server.settings import AccessSettings, Allowance, ApiKey, ListenSettings, Settings
from server.version import VERSION

PROJECT = Path(__file__).resolve().parents[2]
CONFIGS = PROJECT / "configs"


def written(tmp_path, text):
    path = tmp_path / "my.toml"
    path.write_text(text, encoding="utf-8")
    return ["--config", str(path)]


def message_of(argv=(), environ=None):
    with pytest.raises(ConfigError) as caught:
        load(list(argv), environ or {})
    return str(caught.value)


class TestWhereSettingsComeFrom:
    def test_without_anything_the_defaults_hold(self):
        assert load([], {}) == Settings()

    def test_the_default_file_is_found_from_any_working_directory(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert load([], {}) == Settings()

    def test_a_missing_default_file_is_fine(self, tmp_path, monkeypatch):
        monkeypatch.setattr("server.config.sources.DEFAULT_FILE", tmp_path / "embedded.toml")
        assert load([], {}) == Settings()

    def test_a_file_changes_what_it_names_and_nothing_else(self, tmp_path):
        settings = load(written(tmp_path, "[engine.pauses]\nclause_ms = 90\n"), {})
        assert settings.engine.pauses.clause_ms == 90
        assert settings.engine.pauses.sentence_ms == 250

    def test_dotted_names_in_a_file_are_the_same_settings(self, tmp_path):
        settings = load(written(tmp_path, "engine.text.workers = 3\nlisten = {port = 1}\n"), {})
        assert (settings.engine.text.workers, settings.listen.port) == (3, 1)

    def test_a_byte_order_mark_does_no_harm(self, tmp_path):
        assert load(written(tmp_path, "\ufeff[listen]\nport = 81\n"), {}).listen.port == 81

    def test_the_environment_wins_over_the_file_and_flags_over_both(self, tmp_path):
        argv = written(tmp_path, "[listen]\nport = 1\nbacklog = 1\nhost = 'localhost'\n")
        environ = {"COSYSTREAM__LISTEN__PORT": "2", "COSYSTREAM__LISTEN__BACKLOG": "2"}
        listen = load([*argv, "--port", "3"], environ).listen
        assert (listen.host, listen.backlog, listen.port) == ("localhost", 2, 3)

    @pytest.mark.parametrize(
        ("flag", "name", "text", "value"),
        [
            ("--host", "listen.host", "::1", "::1"),
            ("--port", "listen.port", "0", 0),
            ("--device", "engine.device", "cpu", "cpu"),
            ("--precision", "engine.precision", "fp32", "fp32"),
            ("--runner", "engine.runner", "tone", "tone"),
            ("--root-path", "listen.root_path", "/tts/v2", "/tts/v2"),
            ("--log-level", "log.level", "debug", "debug"),
        ],
    )
    def test_every_flag_sets_its_setting(self, flag, name, text, value):
        assert flat(load([flag, text], {}))[name] == value
        assert flat(load([f"{flag}={text}"], {}))[name] == value

    def test_variables_reach_nested_and_top_level_settings(self):
        environ = {"COSYSTREAM__ENGINE__TEXT__WORKERS": "2", "COSYSTREAM__DRAIN_S": "2.5"}
        settings = load([], environ)
        assert (settings.engine.text.workers, settings.drain_s) == (2, 2.5)

    @pytest.mark.parametrize(
        "text",
        ['["https://a.example", "https://b.example"]', "https://a.example, https://b.example,"],
    )
    def test_a_list_in_a_variable_is_json_or_has_commas(self, text):
        settings = load([], {"COSYSTREAM__ACCESS__ALLOWED_ORIGINS": text})
        assert settings.access.allowed_origins == ("https://a.example", "https://b.example")

    def test_an_empty_variable_is_an_empty_list_and_no_choice_of_a_voice(self):
        environ = {
            "COSYSTREAM__ACCESS__ALLOWED_ORIGINS": "",
            "COSYSTREAM__ENGINE__DEFAULT_VOICE": "",
        }
        assert load([], environ) == Settings()

    @pytest.mark.parametrize(
        ("text", "value"), [("true", True), ("ON", True), ("1", True), ("no", False), ("0", False)]
    )
    def test_a_switch_can_be_written_in_several_ways(self, text, value):
        settings = load([], {"COSYSTREAM__ENGINE__ALLOW_DOWNLOADS": text})
        assert settings.engine.allow_downloads is value

    def test_other_programs_variables_are_left_alone(self):
        environ = {"COSYSTREAM_URL": "ws://x", "PATH": "/bin", "COSYSTREAMISH__PORT": "1"}
        assert load([], environ) == Settings()

    def test_the_process_environment_is_what_counts_where_none_is_given(self, monkeypatch):
        monkeypatch.setenv("COSYSTREAM__LISTEN__PORT", "4711")
        assert load([]).listen.port == 4711

    def test_version_prints_and_leaves(self, capsys):
        with pytest.raises(SystemExit) as left:
            load(["--version"], {})
        assert left.value.code == 0
        assert capsys.readouterr().out == f"cosystream {VERSION}\n"

    def test_the_version_is_the_projects(self):
        project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
        assert project["project"]["version"] == VERSION

    def test_help_names_every_flag(self, capsys):
        with pytest.raises(SystemExit):
            load(["--help"], {})
        shown = capsys.readouterr().out
        for flag in ("config", "host", "port", "device", "precision", "model", "runner"):
            assert f"--{flag}" in shown


class TestKeys:
    @pytest.mark.parametrize(
        "text", ["shop:k1,phone:k:2", '[{"name": "shop", "key": "k1"}, "phone:k:2"]']
    )
    @pytest.mark.parametrize("variable", ["COSYSTREAM_API_KEYS", "COSYSTREAM__ACCESS__API_KEYS"])
    def test_keys_in_a_variable(self, variable, text):
        keys = load([], {variable: text}).access.api_keys
        assert keys == (ApiKey("shop", "k1"), ApiKey("phone", "k:2"))

    def test_keys_in_a_file(self, tmp_path):
        argv = written(tmp_path, '[[access.api_keys]]\nname = "shop"\nkey = "k1"\n')
        assert load(argv, {}).access.api_keys == (ApiKey("shop", "k1"),)

    @pytest.mark.parametrize(
        "given",
        [
            {"priority": 5},
            {"priority": -10, "sessions": 3, "contexts": 4, "requests_per_minute": 6},
        ],
    )
    def test_a_key_may_be_given_a_priority_and_limits_of_its_own(self, tmp_path, given):
        expected = (ApiKey("shop", "k1", Allowance(**given)),)
        told = "".join(f"{name} = {value}\n" for name, value in given.items())
        argv = written(tmp_path, f'[[access.api_keys]]\nname = "shop"\nkey = "k1"\n{told}')
        assert load(argv, {}).access.api_keys == expected
        text = json.dumps([{"name": "shop", "key": "k1", **given}])
        settings = load([], {"COSYSTREAM_API_KEYS": text})
        assert settings.access.api_keys == expected
        shown = ", ".join(f"{name} {value}" for name, value in given.items())
        assert describe(settings)["access.api_keys"] == [f"shop:*** ({shown})"]

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"priority": 11}, "priority of the key shop must be -10 to 10"),
            ({"priority": -11}, "priority of the key shop must be -10 to 10"),
            ({"contexts": -1}, "contexts of the key shop must be 0 to"),
            ({"sessions": 100_001}, "sessions of the key shop must be 0 to"),
            ({"requests_per_minute": 10**7}, "requests_per_minute of the key shop must be 0 to"),
            ({"priority": "5"}, "priority of a key must be whole numbers"),
            ({"contexts": True}, "contexts of a key must be whole numbers"),
            ({"sessions": 1.5}, "sessions of a key must be whole numbers"),
            ({"prio": 5}, "may also stand priority, sessions, contexts, requests_per_minute"),
        ],
    )
    def test_what_a_key_cannot_be_given_is_told_without_showing_the_key(self, given, said):
        text = json.dumps([{"name": "shop", "key": "hunter2", **given}])
        message = message_of(environ={"COSYSTREAM_API_KEYS": text})
        assert said in message
        assert "hunter2" not in message

    def test_commas_alone_do_not_leave_a_server_without_keys(self):
        assert load([], {"COSYSTREAM_API_KEYS": ""}).access.api_keys == ()
        assert "or nothing: no keys" in message_of(environ={"COSYSTREAM_API_KEYS": " , "})

    def test_two_variables_for_the_keys_are_one_too_many(self):
        environ = {"COSYSTREAM_API_KEYS": "a:b", "COSYSTREAM__ACCESS__API_KEYS": "a:b"}
        assert "set one" in message_of(environ=environ)

    @pytest.mark.parametrize(
        "text",
        [
            "hunter2",
            ":hunter2",
            "two words:hunter2",
            "../x:hunter2",
            "anonymous:hunter2",
            "shop:hunter2 hunter2",
            "shop:hünter2",
            "a:hunter2,a:hunter22",
            "a:hunter2,b:hunter2",
            '[{"name": "a", "key": "hunter2", "role": 1}]',
            '[{"name": "a", "key": ["hunter2"]}]',
            '["hunter2"',
            '[["hunter2"]]',
        ],
    )
    def test_bad_keys_are_refused_without_showing_them(self, text):
        message = message_of(environ={"COSYSTREAM_API_KEYS": text})
        assert "access.api_keys" in message
        assert "hunter2" not in message

    def test_a_key_in_a_file_of_the_wrong_shape_is_not_shown(self, tmp_path):
        argv = written(tmp_path, '[access]\napi_keys = "a:hunter2"\n')
        message = message_of(argv)
        assert "line 2" in message
        assert "hunter2" not in message

    def test_descriptions_mask_them(self):
        settings = Settings(access=AccessSettings(api_keys=(ApiKey("shop", "hunter2"),)))
        shown = describe(settings)
        assert shown["access.api_keys"] == ["shop:***"]
        assert shown["listen.port"] == 8000
        assert "hunter2" not in repr(shown)

    def test_descriptions_for_people_leave_the_defaults_out(self):
        assert describe(Settings(), all_of_them=False) == {}
        settings = Settings(
            listen=ListenSettings(port=9000),
            access=AccessSettings(api_keys=(ApiKey("shop", "hunter2"),)),
        )
        shown = describe(settings, all_of_them=False)
        assert shown == {"listen.port": 9000, "access.api_keys": ["shop:***"]}


class TestUnknownNames:
    @pytest.mark.parametrize(
        ("text", "name", "near", "line"),
        [
            ("[listen]\nprot = 1", "listen.prot", "listen.port", 2),
            ("[limit]\nsessions = 1", "limit.sessions", "limits.sessions", 2),
            ("port = 1", "port", "listen.port", 1),
            ("[engine]\n\npauses.claus_ms = 1", "engine.pauses.claus_ms", "clause_ms", 3),
            ("[engine]\nopus_bitrate = 1", "engine.opus_bitrate", "audio.opus_bitrate", 2),
        ],
    )
    def test_in_a_file_name_the_line_and_the_nearest(self, tmp_path, text, name, near, line):
        message = message_of(written(tmp_path, text))
        assert f"my.toml, line {line}: {name} is not a setting" in message
        assert f"{near}?" in message

    def test_a_name_near_to_nothing_points_to_the_list(self, tmp_path):
        message = message_of(written(tmp_path, "[zzz]\nqqqqqq = 1"))
        assert "zzz.qqqqqq is not a setting" in message
        assert "docs/configuration.md" in message

    def test_an_unknown_section_is_refused_even_when_empty(self, tmp_path):
        assert "listne is not a setting" in message_of(written(tmp_path, "[listne]\n"))

    def test_a_section_is_not_a_value(self, tmp_path):
        message = message_of(written(tmp_path, "listen = 8000\n"))
        assert "write [listen]" in message

    def test_a_value_is_not_a_section(self, tmp_path):
        assert "whole number" in message_of(written(tmp_path, "[listen.port]\nx = 1\n"))

    @pytest.mark.parametrize(
        ("variable", "near"),
        [
            ("COSYSTREAM__LISTEN__PROT", "COSYSTREAM__LISTEN__PORT"),
            ("COSYSTREAM__PORT", "COSYSTREAM__LISTEN__PORT"),
            ("COSYSTREAM_LISTEN_PORT", "COSYSTREAM__LISTEN__PORT"),
            ("COSYSTREAM_ENGINE__TEXT_WORKERS", "COSYSTREAM__ENGINE__TEXT__WORKERS"),
            ("COSYSTREAM__", "docs/configuration.md"),
        ],
    )
    def test_in_the_environment(self, variable, near):
        message = message_of(environ={variable: "1"})
        assert variable in message
        assert near in message

    @pytest.mark.parametrize(
        ("argument", "near"),
        [("--prot", "--port"), ("--prot=1", "--port"), ("--hots", "--host"), ("serve", "--config")],
    )
    def test_on_the_command_line(self, argument, near):
        message = message_of([argument])
        assert f"'{argument}' is not a flag" in message
        assert near in message

    def test_flags_are_not_guessed_from_their_beginnings(self):
        assert "--devi" in message_of(["--devi", "cpu"])

    def test_a_flag_without_its_value(self):
        assert "--port" in message_of(["--port"])


class TestBadValues:
    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ('[listen]\nport = "8000"', "listen.port"),
            ("[listen]\nport = 8000.0", "listen.port"),
            ("[listen]\nport = true", "listen.port"),
            ("[listen]\nhost = 1", "listen.host"),
            ("[engine]\nallow_downloads = 1", "engine.allow_downloads"),
            ("[engine]\nmodel = 1", "engine.model"),
            ('[engine]\nrunner = "cosy"', "engine.runner"),
            ("[engine]\nrunner = ['tone']", "engine.runner"),
            ("drain_s = true", "drain_s"),
            ("drain_s = nan", "drain_s"),
            ("drain_s = inf", "drain_s"),
            ("drain_s = -1", "drain_s"),
            ("[access]\nallowed_origins = 'https://a.example'", "access.allowed_origins"),
            ("[access]\nallowed_origins = [1]", "access.allowed_origins"),
        ],
    )
    def test_in_a_file_name_the_setting_and_where(self, tmp_path, text, name):
        message = message_of(written(tmp_path, text))
        assert f"line {len(text.splitlines())}: {name} is " in message
        assert "; allowed: " in message

    @pytest.mark.parametrize(
        ("name", "text", "allowed"),
        [
            ("LISTEN__PORT", "", "whole number"),
            ("LISTEN__PORT", "80 80", "whole number"),
            ("LISTEN__PORT", "-1", "0 to 65535"),
            ("LISTEN__PORT", "65536", "0 to 65535"),
            ("LIMITS__SESSIONS", "0", "1 to 100000"),
            ("LIMITS__IDLE_S", "0", "0.1 to 86400"),
            ("DRAIN_S", "nan", "a number"),
            ("AUDIO__OPUS_BITRATE", "5999", "6000 to 256000"),
            ("AUDIO__OPUS_COMPLEXITY", "11", "0 to 10"),
            ("ENGINE__ALLOW_DOWNLOADS", "maybe", "true | false"),
            ("ENGINE__DEVICE", "gpu", "auto | cpu | cuda"),
            ("ENGINE__PRECISION", "FP32", "fp32 | fp16 | bf16"),
            ("ENGINE__DEFAULT_VOICE", "a\0b", "text that can be printed"),
            ("LOG__LEVEL", "trace", "debug | info | warning | error"),
            ("LISTEN__HOST", "", "host name or address"),
            ("LISTEN__HOST", "http://0.0.0.0", "host name or address"),
            ("LISTEN__HOST", "[::1]", "without brackets"),
            ("LISTEN__ROOT_PATH", "tts", 'begins with "/"'),
            ("LISTEN__ROOT_PATH", "/tts/", "does not end with one"),
            ("LISTEN__ROOT_PATH", "/", "does not end with one"),
            ("LISTEN__ROOT_PATH", "/a//b", 'begins with "/"'),
            ("LISTEN__ROOT_PATH", "/a/../b", 'begins with "/"'),
            ("LISTEN__ROOT_PATH", "/a?b", 'begins with "/"'),
            ("ACCESS__ALLOWED_ORIGINS", "https://a.example/", "did you mean https://a.example?"),
            ("ACCESS__ALLOWED_ORIGINS", "a.example", "did you mean https://a.example?"),
            ("ACCESS__ALLOWED_ORIGINS", "https://*.example", "origins like"),
            ("ACCESS__ALLOWED_ORIGINS", "https://bücher.example", "origins like"),
            ("ACCESS__ALLOWED_ORIGINS", "https://a.example:99999", "origins like"),
            ("ACCESS__ALLOWED_ORIGINS", '["https://a.example"', "JSON list"),
        ],
    )
    def test_in_the_environment_say_what_is_allowed(self, name, text, allowed):
        message = message_of(environ={f"COSYSTREAM__{name}": text})
        assert f"COSYSTREAM__{name}: {name.lower().replace('__', '.')} is " in message
        assert allowed in message.partition("; allowed: ")[2]

    def test_a_long_value_is_cut_in_the_message(self):
        assert len(message_of(environ={"COSYSTREAM__LISTEN__PORT": "9" * 5000})) < 250

    @pytest.mark.parametrize("runner", ["embedded", "tone"])
    def test_cuda_is_refused_by_what_runs_on_the_cpu(self, runner):
        message = message_of(["--runner", runner, "--device", "cuda"])
        assert message.startswith('--device: engine.device is "cuda"')
        assert "runs on the CPU" in message

    def test_the_embedded_voice_tells_that_it_runs_on_the_cpu(self):
        assert "the embedded voice runs on the CPU" in message_of(["--device", "cuda"])

    def test_half_precision_is_refused_by_what_has_none(self):
        assert "fp32, the only one" in message_of(["--precision", "bf16"])

    @pytest.mark.parametrize("runner", ["embedded", "tone"])
    def test_a_model_is_refused_by_what_takes_none(self, runner):
        message = message_of(["--runner", runner, "--model", "m.onnx"])
        assert message.startswith('--model: engine.model is "m.onnx"; allowed: nothing')

    @pytest.mark.parametrize(
        ("environ", "said"),
        [
            ({"LIMITS__RESUME_TOTAL_BYTES": "1000"}, "at least limits.resume_bytes"),
            ({"AUDIO__LEAD_MS": "90000"}, "at most limits.lead_ms_max"),
        ],
    )
    def test_settings_that_contradict_each_other(self, environ, said):
        assert said in message_of(environ={f"COSYSTREAM__{k}": v for k, v in environ.items()})

    def test_a_contradiction_caused_by_the_other_setting_is_found_too(self):
        message = message_of(environ={"COSYSTREAM__LIMITS__LEAD_MS_MAX": "100"})
        assert "audio.lead_ms is 400" in message
        assert "(environment variable COSYSTREAM__LIMITS__LEAD_MS_MAX)" in message


class TestBadFiles:
    def test_one_that_is_not_there(self, tmp_path):
        message = message_of(["--config", str(tmp_path / "none.toml")])
        assert f"there is no file {tmp_path / 'none.toml'}" in message

    def test_a_folder(self, tmp_path):
        assert "cannot be read" in message_of(["--config", str(tmp_path)])

    def test_one_that_is_not_toml_names_the_line(self, tmp_path):
        message = message_of(written(tmp_path, "[listen]\nport: 8000\n"))
        assert "not valid TOML" in message
        assert "line 2" in message

    def test_one_that_is_not_text(self, tmp_path):
        path = tmp_path / "my.toml"
        path.write_bytes(b"\xff\xfe[listen]")
        assert "not UTF-8" in message_of(["--config", str(path)])


class TestTheCommand:
    def test_says_one_line_and_exits_with_2(self):
        command = [sys.executable, "-m", "server", "--prot", "1"]
        ended = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
        assert ended.returncode == 2
        assert ended.stderr == "command line: '--prot' is not a flag. Did you mean --port?\n"
        assert ended.stdout == ""


class TestAdvice:
    def test_loopback_without_keys_needs_none(self):
        assert advice(Settings()) == ()

    def test_an_open_server_on_a_network_is_told_of(self):
        (said,) = advice(Settings(listen=ListenSettings(host="0.0.0.0")))
        assert "whoever reaches" in said

    def test_all_origins_without_keys_are_told_of(self):
        (said,) = advice(Settings(access=AccessSettings(allowed_origins=("*",))))
        assert "any web page" in said

    def test_with_keys_both_are_fine(self):
        keys = (ApiKey("a", "b"),)
        access = AccessSettings(api_keys=keys, allowed_origins=("*",))
        assert advice(Settings(listen=ListenSettings(host="0.0.0.0"), access=access)) == ()


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


class TestWhatIsWrittenDown:
    EMBEDDED = (CONFIGS / "embedded.toml").read_text(encoding="utf-8")

    def names_in(self, text):
        section = ""
        for line in text.splitlines():
            if header := re.fullmatch(r"\[([\w.]+)\]", line):
                section = f"{header[1]}."
            elif name := re.match(r"(?:# )?(\w+) = ", line):
                yield section + name[1]

    def test_the_default_file_has_every_setting_once_in_its_section(self):
        assert sorted(self.names_in(self.EMBEDDED)) == sorted(KEYS)

    def test_the_default_file_has_the_defaults(self):
        assert load(["--config", str(CONFIGS / "embedded.toml")], {}) == Settings()
        shown = self.EMBEDDED
        for name, key in KEYS.items():
            if key.default is not None:
                assert re.search(rf"^{name.rpartition('.')[2]} = ", shown, re.MULTILINE), name

    def test_each_setting_of_the_default_file_is_explained_above_it(self):
        lines = self.EMBEDDED.splitlines()
        for above, line in itertools.pairwise(lines):
            if re.match(r"(# )?\w+ = ", line):
                assert above.startswith("# "), line

    def test_what_is_commented_out_can_be_put_in(self, tmp_path):
        text = re.sub(r"^# (default_voice = )", r"\1", self.EMBEDDED, flags=re.MULTILINE)
        assert load(written(tmp_path, text), {}).engine.default_voice == "heart"

    @pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.name)
    def test_every_file_in_configs_loads(self, path):
        assert load(["--config", str(path)], {})

    def test_the_tone_file_runs_the_tone_runner(self):
        assert load(["--config", str(CONFIGS / "tone.toml")], {}).engine.runner == "tone"

    @pytest.mark.parametrize("name", ["cosyvoice2", "cosyvoice3", "desktop"])
    def test_those_of_models_are_read_and_name_one(self, name):
        engine = load(["--config", str(CONFIGS / f"{name}.toml")], {}).engine
        assert engine.kind == "cosyvoice"
        assert engine.model

    def test_a_model_alone_means_its_runner(self):
        flags = ["--device", "cuda", "--port", "7860", "--precision", "fp16", "--model", "models/x"]
        engine = load(flags, {}).engine
        assert (engine.kind, engine.device, engine.precision) == ("cosyvoice", "cuda", "fp16")

    def test_half_precision_for_gpus_is_refused_on_a_cpu(self):
        with pytest.raises(ConfigError, match=r"fp32 \| bf16"):
            load(["--model", "models/x", "--device", "cpu", "--precision", "fp16"], {})

    def test_the_table_in_the_docs_is_complete_and_true(self):
        text = (PROJECT / "docs" / "configuration.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"^\| `([\w.]+)` \| (\S.*?) \|", text, re.MULTILINE))
        own = {f"api_keys.{each.name}": f"`{each.default}`" for each in fields(Allowance)}
        assert rows == own | {name: default_cell(key) for name, key in KEYS.items()}

    def test_the_ranges_in_the_docs_are_the_real_ones(self):
        text = (PROJECT / "docs" / "configuration.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"^\| `([\w.]+)` \| [^|]+ \| (.+?) \|", text, re.MULTILINE))
        own = {f"api_keys.{name}": rule for name, rule in ALLOWANCE.items()}
        assert {each.name for each in fields(Allowance)} == set(ALLOWANCE)
        for name, rule in (RULES | own).items():
            if dataclasses.is_dataclass(rule):
                assert rows[name] == str(rule), name

    def test_the_docs_name_every_flag_and_its_setting(self):
        text = (PROJECT / "docs" / "configuration.md").read_text(encoding="utf-8")
        for flag, (setting, _, _) in FLAGS.items():
            assert re.search(rf"`{flag}`\s\(`{setting}`\)", text), flag

    def test_one_of_two_numbers_may_be_named_and_no_other(self):
        flag = {"COSYSTREAM__ENGINE__COSYVOICE__STREAMS": "1"}
        assert load([], flag).engine.cosyvoice.streams == 1
        assert "allowed: 1 or 4" in message_of(environ=dict.fromkeys(flag, "2"))

    def test_every_number_has_a_range(self):
        numbers = [name for name, key in KEYS.items() if key.hint in {int, float}]
        assert set(numbers) <= set(RULES)

    def test_every_default_keeps_its_own_rule(self):
        for name, value in flat(Settings()).items():
            assert name not in RULES or RULES[name](value) is None, name

    def test_no_section_is_a_setting(self):
        assert not SECTIONS & set(KEYS)


def default_cell(key):
    if key.default is None:
        return "none"
    if isinstance(key.default, bool):
        return f"`{str(key.default).lower()}`"
    if isinstance(key.default, tuple):
        return "`[]`"
    if isinstance(key.default, str):
        return f'`"{key.default}"`'
    return f"`{key.default}`"
