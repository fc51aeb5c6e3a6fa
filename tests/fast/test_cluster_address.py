"""The cluster's address: every spelling that people use, and none that leaks a password."""

import pytest

from submitter.cluster.address import address_from, parse_address
from submitter.errors import UsageError


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        ("http://10.0.0.1:8265", "http://10.0.0.1:8265"),
        ("https://ray.example", "https://ray.example:443"),
        ("http://ray.example/", "http://ray.example:80"),
        ("10.0.0.1:8265", "http://10.0.0.1:8265"),
        ("head-node", "http://head-node:8265"),
        ("  http://h:1\n", "http://h:1"),
        ("http://[::1]:8265", "http://[::1]:8265"),
        ("http://h:8265/#/jobs/run-a1", "http://h:8265"),
        ("https://gate.example/ray/prod/", "https://gate.example:443/ray/prod"),
    ],
)
def test_spellings(given: str, understood: str) -> None:
    assert str(parse_address(given)) == understood


@pytest.mark.parametrize(
    ("given", "text_id"),
    [
        ("ray://10.0.0.1:10001", "cluster.address_ray_client"),
        ("ftp://h", "cluster.address_bad"),
        ("http://", "cluster.address_bad"),
        ("", "cluster.address_bad"),
        ("http://h:99999", "cluster.address_bad"),
        ("http://h:0", "cluster.address_bad"),
        ("http://h:port", "cluster.address_bad"),
        ("http://h:1/?x=1", "cluster.address_bad"),
        ("http://a b:1", "cluster.address_bad"),
        ("http://h'; echo $x:1", "cluster.address_bad"),
        ("http://[::1", "cluster.address_bad"),
        ("http://主机:8265", "cluster.address_bad"),
        ("http://h:8265/a b", "cluster.address_bad"),
        ("http://h:8265/路", "cluster.address_bad"),
    ],
)
def test_wrong_ones_are_refused_in_one_line(given: str, text_id: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_address(given)
    assert caught.value.text_id == text_id
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("given", ["http://me:s3cret@h:1", "me:s3cret@h", "ray://me:s3cret@h", "ht!tp://s3cret@"])
def test_a_password_is_never_shown(given: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_address(given)
    assert caught.value.text_id == "cluster.address_credentials"
    assert "s3cret" not in str(caught.value) + repr(caught.value.values)


def _default(environ: dict[str, str]) -> str:
    return str(address_from(None, environ))


def test_the_environment_in_its_order() -> None:
    both = {"RAY_API_SERVER_ADDRESS": "http://api:1", "RAY_ADDRESS": "http://other:2"}
    assert _default(both) == "http://api:1"
    assert _default({"RAY_ADDRESS": "https://other:2"}) == "https://other:2"
    # The GCS address that Ray itself exports in a job, and an empty variable, are no dashboard.
    assert _default({"RAY_ADDRESS": "10.0.0.1:6379", "RAY_API_SERVER_ADDRESS": ""}) == "http://127.0.0.1:8265"
    assert str(address_from("h:1", both)) == "http://h:1"


def test_a_bad_address_of_the_environment_names_its_variable() -> None:
    with pytest.raises(UsageError, match="RAY_API_SERVER_ADDRESS"):
        address_from(None, {"RAY_API_SERVER_ADDRESS": "ray://h"})
