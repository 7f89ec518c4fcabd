"""Find what an interrupted installation left half done, which pip itself would take for whole."""

import csv
import shutil
from pathlib import Path

__all__ = ["half_installed", "remove"]


def _is_whole(info: Path) -> bool:
    """Say whether every file that a package's record lists is there, in its full size."""
    record = info / "RECORD"  # pip writes it last
    try:
        with record.open(encoding="utf-8", newline="") as lines:
            for name, _, size in csv.reader(lines):
                listed = size and not name.endswith(".pyc")
                if listed and (info.parent / name).stat().st_size != int(size):
                    return False
    except (OSError, ValueError):
        return False
    return True


def half_installed(site_packages: Path) -> list[Path]:
    """Return the folders that stand for packages of which a part is missing."""
    strays = list(site_packages.glob("~*"))  # pip's own names for what it was about to replace
    return strays + [d for d in site_packages.glob("*.dist-info") if not _is_whole(d)]


def remove(folders: list[Path]) -> None:
    """Delete them, so that pip installs these packages again."""
    for folder in folders:
        if folder.is_dir():
            shutil.rmtree(folder, ignore_errors=True)
        else:
            folder.unlink(missing_ok=True)
