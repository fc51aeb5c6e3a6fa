"""How an imported job file is laid out: groups, head, trainer, comments; and that no secret is in it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from submitter.arguments.assemble import argv
from submitter.errors import UsageError
from submitter.importer.model import Arith, Decided, Value
from submitter.importer.write import job_name
from tests.support.readings import Written, flag, launch, own, put, reading, section, typed, word, write


class TestGroups:
    def test_the_scripts_arrays_in_the_order_of_the_command(self, tmp_path: Path) -> None:
        words = [word("data.a=1", group="DATA_ARGS"), word("x.b=1", group="2 Ä"), word("data.c=2", group="DATA_ARGS")]
        done = Written(tmp_path, launch(*words, word("x.d=1", group="ARGS"), word("data.e=1", group="data")))
        assert list(done.data["arguments"]) == ["data", "arguments", "data_2", "args", "data_3"]
        assert done.words() == ["data.a=1", "x.b=1", "data.c=2", "x.d=1", "data.e=1"]

    def test_typed_words_go_by_their_subject(self, tmp_path: Path) -> None:
        texts = ["--config-name=x", "algorithm.a=1", "+actor_rollout_ref.actor.b=1", "critic.c=1", "++reward_model.d=1"]
        done = Written(tmp_path, launch(*[word(text) for text in [*texts, "ray_kwargs.e=1", "trainer.f=1", "--x"]]))
        assert list(done.data["arguments"]) == ["algorithm", "actor", "critic", "reward", "extra", "trainer", "options"]
        assert done.words() == [*texts, "ray_kwargs.e=1", "trainer.f=1", "--x"]

    def test_too_many_subjects_are_one_group(self, tmp_path: Path) -> None:
        words = [word(f"{subject}.k{number}=1") for number in range(7) for subject in ("data", "trainer")]
        assert list(Written(tmp_path, launch(*words)).data["arguments"]) == ["arguments"]

    @pytest.mark.parametrize(
        "texts",
        [
            [f"a.b={number}" for number in range(5)],
            ["a.b=1", "--lr", "1e-5"],
            ["a.b=1", "--config-name=x"],
            ["a b=1"],
            ["=1"],
            [""],
            ["5"],
            ["--config-name=x", "a.b=1", "--config-name=y"],
            ["x" * 300 + "=1"],
        ],
    )
    def test_a_list_of_words_where_a_mapping_says_something_else(self, tmp_path: Path, texts: list[str]) -> None:
        done = Written(tmp_path, launch(*[word(text, group="g") for text in texts]))
        assert done.data["arguments"] == {"g": texts}
        assert done.words() == texts

    def test_a_key_that_comes_again_begins_another_group(self, tmp_path: Path) -> None:
        texts = ["a.b=1", "a.c=2", "a.b=3", "a.d=4"]
        done = Written(tmp_path, launch(*[word(text, group="ACTOR") for text in texts]))
        assert done.data["arguments"] == {"actor": {"a.b": 1, "a.c": 2}, "actor_2": {"a.b": 3, "a.d": 4}}
        assert done.words() == texts

    def test_a_key_with_a_reference_is_a_list(self, tmp_path: Path) -> None:
        done = Written(tmp_path, launch(word(own("p", "a.b"), ".c=1", group="g")))
        assert done.data["arguments"] == {"g": ["${p}.c=1"]}

    def test_deletions_and_nulls(self, tmp_path: Path) -> None:
        texts = ["~a.b", "~a.c=null", "a.d=null", "~a.e=", "a.on=1", "no=1", "1.5=x"]
        done = Written(tmp_path, launch(*[word(text) for text in texts]))
        assert isinstance(done.data["arguments"]["extra"], dict)
        assert done.words() == texts

    def test_an_option_that_is_a_number(self, tmp_path: Path) -> None:
        words = [word("--config-name=5"), word("--config-path=", put("P", "7")), word("a.b=1")]
        assert Written(tmp_path, launch(*words)).words() == ["--config-name=5", "--config-path=7", "a.b=1"]

    def test_a_value_that_nests_too_deep(self) -> None:
        with pytest.raises(UsageError, match=r"^run\.sh:50: .*levels"):
            write(launch(word("a.b=" + "[" * 30)))


class TestHead:
    def test_size_and_summary(self, tmp_path: Path) -> None:
        words = [
            word("algorithm.adv_estimator=gae"),
            word("data.max_prompt_length=", own("p", Arith(typed("1024 * 2"), "2048"))),
            word("data.max_response_length=500"),
            word("actor_rollout_ref.model.path=/models/Qwen3-8B/"),
            word("trainer.nnodes=", put("NNODES", "2")),
            word("trainer.n_gpus_per_node=16"),
        ]
        done = Written(tmp_path, launch(*words))
        assert done.data["summary"] == "PPO, Qwen3-8B, 2K prompt + 500 response, 2 nodes x 16 NPUs"
        assert done.data["cluster"] == {"nodes": "${NNODES}", "npus_per_node": 16}
        assert done.job(NNODES="3").cluster.nodes == 3

    @pytest.mark.parametrize("text", ["", "0", "04", "auto", "99999", "-1", "1.0"])
    def test_a_size_that_the_script_does_not_say(self, tmp_path: Path, text: str) -> None:
        done = Written(tmp_path, launch(word("trainer.nnodes=", put("N", text))))
        assert section(done.text, "cluster") == (
            "  nodes: 1  # the script does not say it\n  npus_per_node: 8  # the script does not say it"
        )
        assert done.data["summary"] == "run"

    @pytest.mark.parametrize(
        ("script", "name"),
        [
            ("a/b/Run-Qwen3.5_8B.sh", "run-qwen3_5_8b"),
            ("__.sh", "imported"),
            ("数据.sh", "imported"),
            ("x" * 60, "x" * 48),
            ("_9a b'.bash", "9a_b"),
        ],
    )
    def test_the_name(self, script: str, name: str) -> None:
        assert job_name(script) == name
        assert yaml.safe_load(write(launch(word("a.b=1")), name=script).text)["name"] == name

    def test_comments(self) -> None:
        top = [
            "Copyright 2024 X",
            "limitations under the License.",
            "",
            "Trains it.",
            "",
            "",
            "#### How ####",
            "set -x",
        ]
        token = "hf_" + "a1" * 15
        words = [word("a.b=1", comments=["one\u2028name: x", "=====", f"export HF_TOKEN={token}", "y" * 200])]
        text = write(launch(*words), reading(comments=[*top, "---"])).text
        assert text.startswith("# Trains it.\n#\n# How\n\nname: run\n")
        assert "    # one\\u2028name: x\n    # export HF_TOKEN=***\n    # yyy" in text
        assert max(map(len, text.splitlines())) <= 120

    def test_a_launch_of_another_file_than_the_script(self) -> None:
        text = write(replace(launch(word("a.b=1")), file="inner.sh")).text
        assert section(text, "imported") == "  script: run.sh\n  launch_line: 40  # inner.sh"

    def test_chinese(self) -> None:
        assert "# 按此顺序传递。" in write(launch(word("a.b=1")), language="zh").text


class TestTrainer:
    def test_a_script(self, tmp_path: Path) -> None:
        done = Written(tmp_path, launch(word("--lr"), word("1"), target=(put("D", "my dir"), "/x.py"), is_module=False))
        assert argv(done.job(D="d")) == ["python3", "d/x.py", "--lr", "1"]

    def test_torchrun(self, tmp_path: Path) -> None:
        options = {
            "nnodes": Value(typed(put("N", "2"))),
            "nproc_per_node": Value(typed("4")),
            "node_rank": Value(typed(put("RANK", "0"))),
            "master_addr": Value(typed(put("ADDR", "10.0.0.1"))),
            "master_port": Value(typed("0")),
            "rdzv_backend": Value(typed("c10d")),
        }
        done = Written(tmp_path, launch(word("a.b=1"), torchrun=options))
        assert done.data["cluster"] == {"nodes": "${N}", "npus_per_node": 4}
        assert argv(done.job())[:4] == ["torchrun", "--nnodes=2", "--nproc_per_node=4", "--master_addr=10.0.0.1"]
        assert [(note.severity, note.values["option"]) for note in done.file.notes] == [("note", "--rdzv_backend")]

    def test_a_working_dir(self, tmp_path: Path) -> None:
        done = Written(tmp_path, launch(word("a.b=1"), working_dir=Value(typed(put("W", "/w")))))
        assert done.job(W="/v").runtime_env.working_dir == "/v"

    @pytest.mark.parametrize(
        ("target", "is_module", "problem"),
        [
            ("a-b", True, "module"),
            ("", True, "module"),
            ("train.sh", False, "Python file"),
            ("-x.py", False, "Python file"),
        ],
    )
    def test_what_is_no_program(self, target: str, is_module: bool, problem: str) -> None:
        with pytest.raises(UsageError, match=rf"^run\.sh:40: .*{problem}"):
            write(launch(word("a.b=1"), target=(target,), is_module=is_module))

    def test_a_flag_without_a_name(self) -> None:
        with pytest.raises(UsageError, match=r"^run\.sh:3: a\.b is no name"):
            write(launch(word("a.b=1"), exported=[flag("a.b", "1")]))

    def test_a_script_that_is_too_long(self) -> None:
        with pytest.raises(UsageError, match=r"^run\.sh:40: "):
            write(launch(*[word("x") for _ in range(50_000)]))


class TestSecrets:
    TOKEN = "hf_" + "a1" * 15

    def test_an_exported_one_is_a_reference(self, tmp_path: Path) -> None:
        exported = [
            flag("HF_TOKEN", self.TOKEN),
            flag("WANDB_API_KEY", put("MY_KEY")),
            flag("X", put("API_KEY", "", "abc")),
        ]
        done = Written(tmp_path, launch(word("a.b=1"), exported=exported))
        assert done.data["secrets"] == {
            "HF_TOKEN": {"env": "HF_TOKEN"},
            "WANDB_API_KEY": {"env": "MY_KEY"},
            "X": {"env": "API_KEY"},
        }
        assert self.TOKEN not in done.text
        assert "env" not in done.data
        assert [(note.severity, note.line) for note in done.file.notes] == [("warning", 3)] * 3

    def test_a_default_a_constant_and_an_argument_are_left_empty(self, tmp_path: Path) -> None:
        about = reading([Decided("D", self.TOKEN, (8,))])
        words = [
            word("a.b=", put("T", self.TOKEN)),
            word("a.c=", own("C", self.TOKEN)),
            word("a.api_key=secret1"),
            word("a.token=", put("D", "", self.TOKEN)),
            word("--password=x1y2z3"),
            word(f"{self.TOKEN}"),
        ]
        done = Written(tmp_path, launch(*words), about)
        assert not re.search(r"hf_|secret1|x1y2z3", done.text)
        assert len(done.file.notes) == 6
        assert done.words(T="t", D="d") == ["a.b=t", "a.c=", "a.api_key=", "a.token=d", "--password=", ""]
