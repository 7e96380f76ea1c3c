"""Keys of those who may ask: in a file, in a variable, and never shown."""

import json

import pytest
from config_rig import message_of, written

from server.config import describe, load
from server.settings import AccessSettings, Allowance, ApiKey, ListenSettings, Settings


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
