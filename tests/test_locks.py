"""The lock files are complete, pinned, free of hosts, and agree with pyproject.toml."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("requirements.txt", "requirements-extras.txt", "requirements-dev.txt")
SYSTEMS = [
    {"sys_platform": platform, "os_name": os_name, "platform_system": system}
    for platform, os_name, system in (
        ("linux", "posix", "Linux"),
        ("darwin", "posix", "Darwin"),
        ("win32", "nt", "Windows"),
    )
]
PYTHONS = ("3.11.2", "3.11.7", "3.12.1", "3.13.0", "3.14.0")


def entries(name):
    lines = (ROOT / name).read_text("utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def chosen(name, environment):
    """Name and version of what pip installs from a lock in one kind of environment."""
    found = {}
    for line in entries(name):
        entry = Requirement(line)
        if entry.marker is None or entry.marker.evaluate(environment):
            assert canonicalize_name(entry.name) not in found, f"{entry.name} twice in {name}"
            (pin,) = entry.specifier
            found[canonicalize_name(entry.name)] = pin.version
    return found


def environments():
    for system in SYSTEMS:
        for python in PYTHONS:
            version = {
                "python_full_version": python,
                "python_version": python.rpartition(".")[0],
            }
            yield default_environment() | system | version


@pytest.mark.parametrize("name", LOCKS)
def test_every_line_is_pinned_to_one_version(name):
    assert len(entries(name)) > 80
    for line in entries(name):
        assert re.fullmatch(r"[\w.-]+==[\w.]+(?: ; .+)?", line), line


@pytest.mark.parametrize("name", LOCKS)
def test_no_address_is_named(name):
    text = (ROOT / name).read_text("utf-8")
    assert "://" not in text
    assert "index" not in text
    assert "--" not in text


@pytest.mark.parametrize("name", LOCKS)
def test_locks_satisfy_the_ranges(name):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    ranges = list(project["project"]["dependencies"])
    if name != "requirements.txt":
        for extra in project["project"]["optional-dependencies"].values():
            ranges += extra
    if name == "requirements-dev.txt":
        ranges += project["dependency-groups"]["dev"] + project["dependency-groups"]["bench"]
    for environment in environments():
        found = chosen(name, environment)
        for text in ranges:
            wanted = Requirement(text)
            version = found.get(canonicalize_name(wanted.name))
            assert version is not None, f"{wanted.name} is not in {name}"
            assert wanted.specifier.contains(version), f"{name} has {wanted.name} {version}: {text}"


def test_each_lock_holds_the_one_before_it_and_more():
    for environment in environments():
        student, extras, developer = (chosen(name, environment) for name in LOCKS)
        assert student.items() <= extras.items() <= developer.items()
        assert len(student) < len(extras) < len(developer)
