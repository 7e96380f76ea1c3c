"""Mistakes that a setting's name and type do not show: what the server says of them."""

from pathlib import Path

import pytest

from server.config import ConfigError, advice, load
from server.settings import AccessSettings, ApiKey, Settings


def refusal(tmp_path, text, argv=()):
    path = tmp_path / "my.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load(["--config", str(path), *argv], {})
    return str(caught.value)


def test_a_runner_without_its_model_is_told_by_what_asked_for_it(tmp_path):
    message = refusal(tmp_path, "", ["--runner", "cosyvoice"])
    assert message.startswith("--runner: engine.model is not set; allowed: a checkpoint folder")
    assert "--model" in message


def test_of_two_settings_that_disagree_the_one_that_was_given_is_to_blame(tmp_path):
    message = refusal(tmp_path, "[limits]\nlead_ms_max = 100\n")
    assert "my.toml, line 2: audio.lead_ms is 400" in message
    assert "default" not in message


def test_a_path_of_windows_between_double_quotes_is_told_how_to_write_it(tmp_path):
    message = refusal(tmp_path, '[engine]\nmodel = "C:\\models\\cosyvoice3"\n')
    assert "is not valid TOML" in message
    assert "between single quotes: 'C:\\models'" in message


def test_other_faults_of_toml_are_told_without_it(tmp_path):
    assert "single quotes" not in refusal(tmp_path, "[listen\nport = 1\n")


def test_a_port_behind_the_host_is_refused(tmp_path):
    message = refusal(tmp_path, '[listen]\nhost = "0.0.0.0:9000"\n')
    assert "without brackets, port or path" in message
    assert load(["--host", "::1"], {}).listen.host == "::1"


def test_the_users_own_folder_may_be_written_short(monkeypatch, tmp_path):
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    engine = load(["--model", "~/m"], {"COSYSTREAM__ENGINE__VOICES_DIR": "~/v"}).engine
    assert (Path(engine.model), Path(engine.voices_dir)) == (tmp_path / "m", tmp_path / "v")


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("COSYSTREAM_PORT", "COSYSTREAM__LISTEN__PORT"),
        ("COSYSTREAM_MODEL", "COSYSTREAM__ENGINE__MODEL"),
    ],
)
def test_a_variable_that_is_not_read_is_warned_of(variable, meant):
    (warning,) = advice(Settings(), {variable: "9000"})
    assert warning == f"environment variable {variable} is not read. Did you mean {meant}?"


def test_what_others_put_into_the_environment_is_not():
    kubernetes = {"COSYSTREAM_PORT": "tcp://10.0.0.1:8000", "COSYSTREAM_SERVICE_HOST": "10.0.0.1"}
    clients = {"COSYSTREAM_URL": "http://127.0.0.1:8000", "PORT": "1"}
    assert advice(Settings(), kubernetes | clients) == ()


def test_the_short_form_for_keys_is_none_of_them():
    environ = {"COSYSTREAM_API_KEYS": "shop:hunter2"}
    assert advice(load([], environ), environ) == ()


def test_the_clients_key_on_a_server_without_keys_is_warned_of():
    environ = {"COSYSTREAM_API_KEY": "hunter2"}
    (warning,) = advice(Settings(), environ)
    assert "COSYSTREAM_API_KEYS" in warning
    assert "hunter2" not in warning
    keyed = Settings(access=AccessSettings(api_keys=(ApiKey("shop", "hunter2"),)))
    assert advice(keyed, environ | {"COSYSTREAM_API_KEYS": "shop:hunter2"}) == ()
