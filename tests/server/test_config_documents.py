"""The files in ``configs`` and the tables in ``docs`` say what the settings are."""

import dataclasses
import itertools
import re
from dataclasses import fields

import pytest
from config_rig import PROJECT, message_of, written

from server.config import ConfigError, load
from server.config.keys import KEYS, SECTIONS, flat
from server.config.rules import ALLOWANCE, RULES
from server.config.sources import FLAGS
from server.settings import Allowance, Settings

CONFIGS = PROJECT / "configs"


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
