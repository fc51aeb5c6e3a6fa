"""Alerts over steps: none on trainings that go well, each one on its own disease, none that flaps."""

from __future__ import annotations

import gzip
import json
import math
import random
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.step_lines import StepReader
from submitter.metrics.alerts import NAMES, RULES, Alert, Watched, Window, judge
from submitter.texts import LANGUAGES, TABLE
from submitter.watch.words import alert_text
from tests.support.training_curves import SHAPES, Change, Healthy, Ill

LOGS = Path(__file__).parents[1] / "data" / "verl_logs"
BEGIN = 600
"""Step at which a disease begins."""
LOOK_EVERY = 20


def judged(training: Healthy | Ill, until: int, *, since: int = 1, every: int = LOOK_EVERY) -> Iterator[list[Alert]]:
    """What holds at each look, from step `since` on."""
    watched = Watched()
    watched.add_steps(1, [(step, step * 60_000, training.row(step)) for step in range(1, since)], None)
    for step in range(since, until + 1):
        watched.add_steps(1, [(step, step * 60_000, training.row(step))], None)
        if step % every == 0:
            yield judge(watched.window(training.total))


def ids(alerts: list[Alert]) -> set[str]:
    return {alert.id for alert in alerts}


def longer(progress: float, _chance: random.Random) -> dict[str, float]:
    """Answers double within a few steps, and with them what there is to do."""
    more = 1 + min(1.0, max(0.0, 9 * (progress - 0.5)))
    return {"timing_s/step": 30 + 30 * more, "timing_s/gen": 30 * more, "perf/total_num_tokens": 1e6 * more}


ODD_BUT_HEALTHY: dict[str, Callable[[float, random.Random], dict[str, float]]] = {
    "gradients with a long tail": lambda _, chance: {"actor/grad_norm": chance.lognormvariate(-1.2, 0.8)},
    "gradients that grow": lambda x, chance: {"actor/grad_norm": 0.2 * math.exp(2 * x) * chance.uniform(0.5, 1.5)},
    "policy kl with a long tail": lambda _, chance: {"actor/ppo_kl": chance.lognormvariate(-7, 1.2)},
    "kl that grows": lambda x, chance: {"actor/kl_loss": 1.5 * x**1.5 * chance.uniform(0.8, 1.2)},
    "a model of experts": lambda x, chance: {
        "training/rollout_probs_diff_mean": (0.012 + 0.006 * x) * chance.uniform(0.5, 1.5),
        "training/rollout_actor_probs_pearson_corr": 0.97 - 0.01 * chance.random(),
        "rollout_corr/kl": chance.gauss(0.004, 0.002),
    },
    "an instruct model's entropy": lambda x, chance: {
        "actor/entropy": (0.08 + 0.22 * math.exp(-4 * x)) * chance.uniform(0.8, 1.2)
    },
    "a reward of few values": lambda x, chance: {
        "critic/rewards/mean": round(0.1 + 0.8 * x + chance.gauss(0, 0.02), 2)
    },
    "a reward below zero": lambda x, chance: {"critic/rewards/mean": 1.5 * x - 1 + chance.gauss(0, 0.1)},
    "step times with a long tail": lambda _, chance: {"timing_s/step": 40 + chance.lognormvariate(3, 0.6)},
    "many answers that are cut": lambda _, chance: {
        "response_length/clip_ratio": chance.gauss(0.2, 0.04),
        "response_length/max": 8_192.0,
    },
    "answers that get longer": longer,
}


class TestHealthy:
    @pytest.mark.parametrize("log", sorted(LOGS.glob("*.log.gz")), ids=lambda log: log.name.partition(".")[0])
    def test_no_alert_at_any_step_of_a_real_log(self, log: Path) -> None:
        watched = Watched()
        steps = StepReader().feed(gzip.decompress(log.read_bytes()))
        assert steps or "healthy" not in log.name
        for step in steps:
            watched.add_steps(1, [(step.number, 0, step.metrics)], None)
            assert judge(watched.window(12)) == []

    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("noise", [0.01, 0.03])
    def test_no_alert_while_a_reward_rises_to_the_top(self, shape: str, noise: float) -> None:
        training = Healthy(seed=11, shape=shape, noise=noise)
        assert set().union(*(ids(alerts) for alerts in judged(training, training.total, every=40))) == set()

    @pytest.mark.parametrize("shape", ["saturating", "linear", "early plateau"])
    def test_no_alert_where_it_stays_below_the_top_and_noise_is_large(self, shape: str) -> None:
        training = Healthy(seed=5, shape=shape, noise=0.06, reward=(0.3, 0.6))
        assert set().union(*(ids(alerts) for alerts in judged(training, training.total, every=40))) == set()

    @pytest.mark.parametrize("name", ODD_BUT_HEALTHY)
    @pytest.mark.parametrize("seed", [0, 1])
    def test_no_alert_on_what_only_looks_odd(self, name: str, seed: int) -> None:
        chance, watched = random.Random(seed), Watched()
        for step in range(1, 901):
            watched.add_steps(1, [(step, 0, ODD_BUT_HEALTHY[name](step / 900, chance))], None)
            if step % 15 == 0:
                assert judge(watched.window(900)) == [], step

    def test_nothing_is_said_of_nothing(self) -> None:
        assert judge(Window([])) == [] and judge(Watched().window()) == []

    def test_of_a_reward_that_is_all_but_perfect_nothing_is_flat(self) -> None:
        training = Healthy(reward=(1.0, 1.0), noise=0.0)
        assert set().union(*(ids(alerts) for alerts in judged(training, 500))) == set()


def scaled(name: str, by: float) -> Change:
    def change(row: dict[str, float], _since: int) -> None:
        row[name] *= by

    return change


def becomes(name: str, value: float, within: int = 1) -> Change:
    """Linearly, within so many steps."""

    def change(row: dict[str, float], since: int) -> None:
        share = min(1.0, (since + 1) / within)
        row[name] += (value - row[name]) * share

    return change


def slower(name: str, by: float) -> Change:
    def change(row: dict[str, float], _since: int) -> None:
        more = row[name] * (by - 1)
        row[name] += more
        row["timing_s/step"] += more

    return change


DISEASES: dict[str, tuple[str, Change, int]] = {
    "nan loss": ("NR901", becomes("actor/loss", math.nan), 0),
    "infinite gradients": ("NR901", becomes("actor/grad_norm", math.inf), 0),
    "reward function broken": ("NR902", becomes("critic/rewards/mean", 0.0), 20),
    "reward collapses": ("NR903", becomes("critic/rewards/mean", 0.1, within=30), 60),
    "gradients explode": ("NR904", scaled("actor/grad_norm", 8.0), 20),
    "entropy collapses": ("NR905", becomes("actor/entropy", 0.01, within=50), 80),
    "policy kl explodes": ("NR906", becomes("actor/ppo_kl", 0.2, within=10), 20),
    "runs away from the reference": ("NR906", becomes("actor/kl_loss", 5.0, within=60), 60),
    "generation gets slow": ("NR907", slower("timing_s/gen", 2.0), 20),
    "mismatch grows": ("NR908", becomes("training/rollout_probs_diff_mean", 0.05, within=40), 60),
    "mismatch by kl": ("NR908", becomes("rollout_corr/kl", 0.3, within=40), 60),
    "policies part": ("NR908", becomes("training/rollout_actor_probs_pearson_corr", 0.6, within=40), 60),
    "answers are cut": ("NR909", becomes("response_length/clip_ratio", 0.6, within=50), 80),
}
"""What happens, which rule has to say so, within how many steps."""


class TestDiseases:
    @pytest.mark.parametrize("name", DISEASES)
    def test_it_is_told_in_time_and_not_before(self, name: str) -> None:
        wanted, change, within = DISEASES[name]
        looks = list(judged(Ill(Healthy(seed=3), BEGIN, change), BEGIN + 160, since=BEGIN - 100))
        before = (100 - 1) // LOOK_EVERY + 1
        assert set().union(*(ids(alerts) for alerts in looks[:before])) == set()
        due = before + math.ceil(within / LOOK_EVERY)
        assert wanted in ids(looks[due]), [ids(alerts) for alerts in looks]

    @pytest.mark.parametrize("name", [name for name in DISEASES if name != "reward function broken"])
    def test_it_is_told_once_as_long_as_it_lasts(self, name: str) -> None:
        wanted, change, _ = DISEASES[name]
        ill = Ill(Healthy(seed=8), BEGIN, change)
        holds = [wanted in ids(alerts) for alerts in judged(ill, BEGIN + 200, since=BEGIN, every=5)]
        begun = holds.index(True)
        assert all(holds[begun : begun + 20]), "it flaps"
        assert sum(1 for before, now in pairwise([False, *holds]) if now and not before) == 1

    @pytest.mark.parametrize("name", DISEASES)
    def test_no_other_rule_speaks(self, name: str) -> None:
        wanted, change, _ = DISEASES[name]
        looks = judged(Ill(Healthy(seed=4), BEGIN, change), BEGIN + 160, since=BEGIN)
        others = set().union(*(ids(alerts) for alerts in looks)) - {wanted}
        assert others <= ({"NR902", "NR903"} if "reward" in name else set())

    def test_the_phase_that_grew_is_named_with_its_seconds(self) -> None:
        (alert,) = list(judged(Ill(Healthy(seed=3), BEGIN, slower("timing_s/update_actor", 4.0)), BEGIN + 40))[-1]
        values = alert.values
        assert (alert.id, values["phase"], alert.last_step) == ("NR907", "actor_update", BEGIN + 40)
        assert values["phase_s"] == pytest.approx(4 * float(values["phase_usual_s"]), rel=0.1)
        assert alert.first_step is not None and BEGIN <= alert.first_step <= BEGIN + 15

    def test_steps_with_more_tokens_are_not_slow(self) -> None:
        def longer(row: dict[str, float], _since: int) -> None:
            slower("timing_s/gen", 2.0)(row, 0)
            row["perf/total_num_tokens"] *= 2

        looks = judged(Ill(Healthy(seed=3), BEGIN, longer), BEGIN + 100, since=BEGIN)
        assert set().union(*(ids(alerts) for alerts in looks)) == set()

    def test_a_reward_that_never_rises_is_flat(self) -> None:
        flat = [ids(alerts) for alerts in judged(Healthy(seed=2, reward=(0.1, 0.1)), 1_000)]
        assert {"NR902"} in flat and set().union(*flat) == {"NR902"}

    def test_one_bad_gradient_norm_is_a_warning_that_passes(self) -> None:
        def once(row: dict[str, float], since: int) -> None:
            if since == 0:
                row["actor/grad_norm"] = math.inf

        looks = list(judged(Ill(Healthy(), 100, once), 200, since=100, every=1))
        (alert,) = looks[0]
        assert (alert.severity, alert.values["value"], alert.values["first"]) == ("warning", "inf", 100)
        assert ids(looks[19]) == {"NR901"} and ids(looks[20]) == set()

    def test_a_loss_that_is_no_number_is_an_error_before_the_gradient(self) -> None:
        row = {"actor/grad_norm": math.nan, "actor/loss": math.nan}
        watched = Watched()
        watched.add_steps(1, [(1, 0, row)], None)
        (alert,) = judge(watched.window())
        assert (alert.severity, alert.values["metric"]) == ("error", "actor/loss")

    def test_rehearsals_with_short_answers_are_not_cut(self) -> None:
        short = {"response_length/clip_ratio": 0.95, "response_length/max": 16.0}
        watched = Watched()
        watched.add_steps(1, [(step, 0, short) for step in range(1, 100)], None)
        assert judge(watched.window()) == []

    def test_single_peaks_say_nothing(self) -> None:
        def peaks(row: dict[str, float], since: int) -> None:
            if since % 10 < 2:
                row["actor/grad_norm"] *= 50
                row["timing_s/step"] *= 3
                row["critic/rewards/mean"] = 0.0

        looks = judged(Ill(Healthy(seed=6), BEGIN, peaks), BEGIN + 150, since=BEGIN)
        assert set().union(*(ids(alerts) for alerts in looks)) == set()


class TestAttempts:
    def test_what_was_trained_again_is_forgotten(self) -> None:
        watched = Watched()
        training = Healthy()
        watched.add_steps(1, [(step, 0, training.row(step)) for step in range(1, 50)], None)
        watched.add_steps(1, [(step, 0, {"actor/loss": math.nan}) for step in range(50, 60)], None)
        assert ids(judge(watched.window())) == {"NR901"}
        watched.add_steps(2, [(step, 0, training.row(step)) for step in range(41, 45)], 40)
        assert judge(watched.window()) == [] and watched.window().last_step == 44

    def test_the_begin_of_the_run_is_known_as_long_as_it_lasts(self) -> None:
        watched = Watched()
        watched.add_steps(1, [(step, 0, Healthy().row(step)) for step in range(1, 1_000)], None)
        window = watched.window()
        assert (len(window.rows), window.rows[0].step, window.head[0].step, len(window.head)) == (400, 600, 1, 20)

    def test_only_what_rules_look_at_is_kept(self) -> None:
        watched = Watched()
        watched.add_steps(1, [(1, 0, {"val-core/x": 1.0, "actor/entropy": 2.0})], None)
        assert watched.window().rows[0].metrics == {"actor/entropy": 2.0} and "actor/entropy" in NAMES


class TestTexts:
    def test_every_rule_has_its_texts_and_a_source(self) -> None:
        for rule in RULES:
            assert {rule.id, f"{rule.id}.fix", f"{rule.id}.about"} <= set(TABLE)
            assert rule.source, rule.id
            assert rule.severities

    def test_an_alert_names_all_that_its_text_says(self) -> None:
        for _, change, _ in DISEASES.values():
            *_, alerts = judged(Ill(Healthy(seed=3), BEGIN, change), BEGIN + 100, since=BEGIN)
            for alert in alerts:
                said = {language: alert_text(alert, language) for language in LANGUAGES}
                assert all(one.fix and "{" not in one.message for one in said.values())
                assert said["en"] != said["zh"]
                assert alert.severity in next(rule for rule in RULES if rule.id == alert.id).severities
                assert json.loads(json.dumps(dict(alert.values), allow_nan=False)) == dict(alert.values)

    def test_one_of_another_version_still_says_something(self) -> None:
        assert alert_text(Alert("NR907", "warning", None, 1, 2, {"value": 3}), "en").message.startswith("A step takes")
        assert alert_text(Alert("NR999", "warning", None, 1, 2, {}), "zh").message == "NR999"


def test_judging_costs_little() -> None:
    watched = Watched()
    watched.add_steps(1, [(step, 0, Healthy().row(step)) for step in range(1, 500)], None)
    window = watched.window()
    times = []
    for _ in range(15):
        begin = time.perf_counter()
        judge(window)
        times.append(time.perf_counter() - begin)
    assert median(times) < 0.015, "5 ms on an idle core of 2024"


def test_console_logs_say_the_same_as_the_file_logger() -> None:
    """The rules get what the parser gives, nan and all."""
    reader = StepReader()
    (step,) = reader.feed(b"step:3 - actor/loss:np.float64(nan) - actor/grad_norm:inf\n")
    watched = Watched()
    watched.add_steps(1, [(step.number, 0, step.metrics)], None)
    assert judge(watched.window())[0].values["count"] == 1


@pytest.mark.parametrize("pattern", [[1.7e308, -1.7e308], [1e308, 0.0], [5e-324, 1.7e308, 3.0], [math.nan, math.inf]])
def test_numbers_that_overflow_are_none(pattern: list[float]) -> None:
    watched = Watched()
    rows = [(step, 0, dict.fromkeys(NAMES, pattern[step % len(pattern)])) for step in range(1, 401)]
    watched.add_steps(1, rows, None)
    assert [alert.id for alert in judge(watched.window())][:1] == ["NR901"]


@given(
    st.lists(st.dictionaries(st.sampled_from(NAMES), st.floats(), max_size=12), max_size=80),
    st.integers(0, 1_000),
)
def test_whatever_a_trainer_logs_is_judged_and_can_be_told(logged: list[dict[str, float]], total: int) -> None:
    watched = Watched()
    rows = logged * 6  # long enough for the rules that look far back
    watched.add_steps(1, [(step, 0, row) for step, row in enumerate(rows, 1)], None)
    for alert in judge(watched.window(total)):
        assert "{" not in alert_text(alert, "en").message
        json.dumps(dict(alert.values), allow_nan=False)
