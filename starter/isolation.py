"""An environment for child processes that nothing else on the machine can disturb."""

import os
from collections.abc import Mapping

from starter.course import Course

__all__ = ["clean_environment", "pip_environment"]

# Variables that change what Python, Jupyter or matplotlib do, or which of them is found.
_STRAY = ("PYTHON", "JUPYTER", "JPY_", "IPYTHON", "IPY_", "MPL", "MATPLOTLIB", "NBVAL", "PYTEST_")
_STRAY_NAMES = {"VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT", "__PYVENV_LAUNCHER__"}
_HARMLESS = {"PYTHONUNBUFFERED"}
# pip settings that would send packages elsewhere or refuse them; mirrors and certificates stay.
_STRAY_PIP = ("USER", "TARGET", "PREFIX", "ROOT", "REQUIRE", "CONSTRAINT", "NO_BINARY", "ONLY_",
              "PRE", "NO_DEPS", "NO_BUILD", "DRY_RUN", "REPORT", "IGNORE", "FORCE", "PYTHON",
              "LOG", "QUIET", "VERBOSE")  # fmt: skip


def clean_environment(
    course: Course, base: Mapping[str, str] | None = None, state: str = ""
) -> dict[str, str]:
    """Return the variables for a process of the course.

    Args:
        course: the copy of the course.
        base: the variables to start from; this process's own by default.
        state: name of a folder inside .jupyter/ for settings of their own; the student's if empty.
    """
    base = os.environ if base is None else base
    kept = {
        name: value
        for name, value in base.items()
        if name.upper() in _HARMLESS
        or not (name.upper().startswith(_STRAY) or name.upper() in _STRAY_NAMES)
    }
    home = course.state / state if state else course.state
    path = os.pathsep.join([str(course.scripts), base.get("PATH", os.defpath)])
    return kept | {
        "PATH": path,
        "VIRTUAL_ENV": str(course.venv),
        "PYTHONNOUSERSITE": "1",
        "PYTHONUTF8": "1",
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_CONFIG_PATH": str(course.root / "starter"),  # starter/labconfig: no news pop-up
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_PLATFORM_DIRS": "0",
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "MPLCONFIGDIR": str(course.state / "matplotlib"),
    }


def pip_environment(course: Course, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables for pip: as above, and no setting that sends packages elsewhere."""
    kept = {
        name: value
        for name, value in clean_environment(course, base).items()
        if not (name.upper().startswith("PIP_") and name.upper()[4:].startswith(_STRAY_PIP))
    }
    return kept | {
        "PIP_USER": "0",  # also where a configuration file says otherwise
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "PIP_PROGRESS_BAR": "off",
        "PIP_NO_COLOR": "1",
    }
