"""Settings that cannot be: unknown names, bad values, files that are none."""

import pytest
from config_rig import message_of, written


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
