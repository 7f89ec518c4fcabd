"""What Binder would build from binder/, read with Binder's own code and run without a container."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

if os.name == "nt":
    pytest.skip("Binder builds on Linux; its code does not run here", allow_module_level=True)

from repo2docker.app import Repo2Docker
from repo2docker.buildpacks import conda

ROOT = Path(__file__).resolve().parent.parent
PIP_LINE = 'pip install --no-cache-dir -r "binder/requirements.txt"'
PYTHON = "3.12"  # the middle one of those that the checks run on


@pytest.fixture
def buildpack(monkeypatch):
    """The builder that Binder picks for this folder."""
    monkeypatch.chdir(ROOT)
    builder = Repo2Docker()
    for kind in builder.buildpacks:
        pack = kind(base_image=builder.base_image)
        if pack.detect():
            pack.platform = builder.platform
            return pack
    raise AssertionError("Binder finds nothing to build")


def test_python_and_builder(buildpack):
    assert type(buildpack).__name__ == "PythonBuildPack"
    assert buildpack.python_version == PYTHON
    assert buildpack.binder_dir == "binder"


def test_steps_of_the_image(buildpack):
    image = buildpack.render({"NB_USER": "student", "NB_UID": "1000"})
    steps = [line for line in image.splitlines() if line and not line.startswith("#")]
    copy = steps.index("COPY --chown=1000:1000 src/ ${REPO_DIR}/")
    install = steps.index(f"RUN ${{KERNEL_PYTHON_PREFIX}}/bin/{PIP_LINE}")
    settings = steps.index("RUN ./binder/postBuild")
    assert copy < install < settings, "the packages need the course's files, the settings both"
    assert "install --yes --no-install-recommends rabbitmq-server redis-server &&" in image
    assert not [line for line in steps if "mamba env update" in line], "no second package manager"
    assert os.access(ROOT / "binder" / "postBuild", os.X_OK)


def test_one_lock_for_the_machine_and_for_binder():
    lines = (ROOT / "binder" / "requirements.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        "-r ../requirements-extras.txt",
        "-e .",
        "notebook>=7.5",
    ]


def base_packages():
    """The Jupyter that Binder's image has before pip runs, from Binder's own lock."""
    folder = Path(conda.__file__).parent
    wanted = re.findall(
        r"^- ([\w-]+)==", (folder / f"environment.py-{PYTHON}.yml").read_text(), re.M
    )
    lock = (folder / f"environment.py-{PYTHON}-linux-64.lock").read_text()
    pins = []
    for name in [*wanted, "pip", "ipykernel", "jupyterlab_server"]:
        (version,) = re.findall(rf"/{name}-(\d[\w.]*)-[^/]*$", lock, re.M)
        pins.append(f"{name.removesuffix('-singleuser')}=={version}")
    return pins


def run(command, **options):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", **options
    )
    if done.returncode and any(w in done.stdout for w in ("dns error", "NewConnectionError")):
        pytest.skip("no network to install Binder's packages from")
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def python_of_binder():
    """The image's Python if this machine has it, else the one that runs the tests."""
    for path in (f"python{PYTHON}", *Path.home().glob(f".pyenv/versions/{PYTHON}.*/bin/python")):
        try:
            question = [path, "-I", "-c", "import sys; print(sys.version_info[:2])"]
            answer = subprocess.run(question, capture_output=True, text=True).stdout
        except OSError:
            continue
        if answer.strip() == str(tuple(map(int, PYTHON.split(".")))):
            return str(path)
    print(f"No Python {PYTHON} here: the steps run with {sys.version.split()[0]}.")
    return sys.executable


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """A copy of the course and an environment in which Binder's steps have run."""
    course = tmp_path_factory.mktemp("binder") / "course"
    # No .git: Binder has one, but no step may need it.
    shutil.copytree(
        ROOT, course, ignore=shutil.ignore_patterns(".venv", ".jupyter", ".git", ".*_cache")
    )
    env = course.parent / "env"
    uv = [sys.executable, "-m", "uv", "--quiet"]
    run([*uv, "venv", "--python", python_of_binder(), str(env)])
    run([*uv, "pip", "install", "--python", str(env), *base_packages()])
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JUPYTER", "PYTHON", "IPYTHON", "VIRTUAL_ENV"))
    }
    variables |= {
        "PATH": f"{env / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(course.parent),
        "PYTHONUNBUFFERED": "1",
    }
    run(f"exec {PIP_LINE}", shell=True, cwd=course, env=variables)
    run(["./binder/postBuild"], cwd=course, env=variables)
    return course, env / "bin", variables


@pytest.mark.slow
def test_steps_leave_a_consistent_environment(image):
    course, commands, variables = image
    run([commands / "pip", "check"], env=variables)
    run([commands / "python", course / "starter" / "checks.py"], env=variables)
    lock = (ROOT / "requirements-extras.txt").read_text("utf-8")
    (locked,) = re.findall(r"^jupyterlab==(\S+)", lock, re.M)
    assert f"jupyterlab=={locked}\n" in run([commands / "pip", "freeze"], env=variables)


@pytest.mark.slow
def test_a_notebook_runs(image):
    course, commands, variables = image
    page = "00-start-here.ipynb"
    code = (
        "import nbformat, nbclient\n"
        f"book = nbformat.read({page!r}, 4)\n"
        "nbclient.NotebookClient(book, kernel_name='python3').execute()\n"
        "print(sum(c.cell_type == 'code' and bool(c.execution_count) for c in book.cells), 'cells')"
    )
    if not (course / "notebooks" / page).is_file():
        pytest.skip(f"{page} is not there yet")
    said = run([commands / "python", "-c", code], cwd=course / "notebooks", env=variables)
    assert int(re.search(r"(\d+) cells", said)[1]) > 0


def fetched(log, server, seconds=60):
    """The start page, once the server answers."""
    for _ in range(seconds * 5):
        assert server.poll() is None, log()
        if found := re.search(r"http://127.0.0.1:(\d+)/", log()):
            address = f"http://127.0.0.1:{found[1]}/lab/tree/notebooks/00-start-here.ipynb"
            with contextlib.suppress(ConnectionError, urllib.error.URLError):
                return urllib.request.urlopen(f"{address}?token=launch").read().decode()
        time.sleep(0.2)
    raise AssertionError(log())


@pytest.mark.slow
def test_the_launch_link_opens_the_start_page_without_news(image):
    course, commands, variables = image
    # Binder starts this command, with a token and an address of its own.
    command = ["jupyter-notebook", "--ip=127.0.0.1", "--no-browser", "--allow-root", "--port=8788"]
    with (
        open(course.parent / "server.log", "w+", encoding="utf-8") as log,
        subprocess.Popen(
            [commands / command[0], *command[1:], "--IdentityProvider.token=launch"],
            cwd=course, env=variables, stdout=log, stderr=log,
        ) as server,
    ):  # fmt: skip
        try:
            page = fetched(lambda: Path(log.name).read_text("utf-8"), server)
        finally:
            server.terminate()
    (text,) = re.findall(r'<script id="jupyter-config-data"[^>]*>(.*?)</script>', page, re.S)
    disabled = json.loads(text)["disabledExtensions"]
    assert "@jupyterlab/apputils-extension:announcements" in disabled
