"""Settings: where they come from, which one wins, and what is advised."""

import subprocess
import sys
import tomllib

import pytest
from config_rig import PROJECT, written

from server.config import advice, load
from server.config.keys import flat
from server.settings import AccessSettings, ApiKey, ListenSettings, Settings
from server.version import VERSION


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
