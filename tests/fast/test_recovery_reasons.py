"""The table of reasons: complete, said in both languages, and on the generated page."""

from __future__ import annotations

import pytest

from submitter.gang.record import EXIT_OF_REASON
from submitter.recovery.reasons import FAMILIES, REASONS, of_error_type
from submitter.recovery.signatures import signatures
from submitter.texts import LANGUAGES, TABLE, text
from tests.make_reasons_doc import FILES, document

ERROR_TYPES = (
    "RUNTIME_ENV_SETUP_FAILURE",
    "JOB_SUPERVISOR_ACTOR_START_TIMEOUT",
    "JOB_SUPERVISOR_ACTOR_START_FAILURE",
    "JOB_SUPERVISOR_ACTOR_UNSCHEDULABLE",
    "JOB_SUPERVISOR_ACTOR_UNKNOWN_FAILURE",
    "JOB_SUPERVISOR_ACTOR_DIED",
    "JOB_ENTRYPOINT_COMMAND_START_ERROR",
    "JOB_ENTRYPOINT_COMMAND_ERROR",
)
"""JobErrorType of Ray 2.60."""
SUMMARY_CHARS = 120


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_is_said_in_both_languages(reason: str) -> None:
    for part in ("", ".means", ".fix"):
        english, chinese = TABLE[f"reason.{reason}{part}"]
        assert english.strip() and chinese.strip()
        assert english != chinese
        assert any("\u4e00" <= char <= "\u9fff" for char in chinese)
    assert len(text(f"reason.{reason}")) <= SUMMARY_CHARS


def test_no_text_is_of_a_reason_that_is_not_in_the_table() -> None:
    named = {name.split(".")[1] for name in TABLE if name.startswith("reason.")} - {"family"}
    assert named == set(REASONS)


def test_families_have_headings_and_names_that_no_reason_has() -> None:
    assert [family for family in FAMILIES if f"reason.family.{family}" not in TABLE] == []
    assert set(FAMILIES) & set(REASONS) == set()  # a policy names either


def test_what_the_driver_and_ray_end_an_attempt_for_is_a_reason() -> None:
    assert set(EXIT_OF_REASON) <= set(REASONS)
    assert [name for name in ERROR_TYPES if of_error_type(name) is None] == []


@pytest.mark.parametrize("name", [None, "", "SOMETHING_NEW", "DISK_FULL"])
def test_an_error_type_that_ray_does_not_have_is_no_reason(name: str | None) -> None:
    assert of_error_type(name) is None


def test_only_what_is_a_nodes_fault_is_tried_without_the_node() -> None:
    assert [one.id for one in REASONS.values() if one.retry == "exclude_node" and not one.blames_node] == []


@pytest.mark.parametrize("family", ["config", "arithmetic", "version", "data", "user_code"])
def test_what_the_job_itself_does_wrong_is_never_just_tried_again(family: str) -> None:
    assert [one.id for one in REASONS.values() if one.family == family and one.retry != "after_change"] == []


@pytest.mark.parametrize("language", FILES)
def test_the_page_is_the_generated_one(language: str) -> None:
    assert FILES[language].read_text(encoding="utf-8") == document(language), "run `make docs`"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reason_is_on_the_page(language: str) -> None:
    page = document(language)
    assert [reason for reason in REASONS if f"\n### `{reason}`\n" not in page] == []


def test_most_reasons_that_a_log_can_show_have_a_line() -> None:
    """The others are what npurun or Ray say by themselves, not by a line of a log."""
    told = {one.reason for one in signatures() if one.role != "noise"}
    by_themselves = {one.id for one in REASONS.values() if one.family in ("outcome", "attempt", "ray_job")}
    assert set(REASONS) - told - by_themselves == {"user_exception"} - told
