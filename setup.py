"""Packs the app (app.py, the pages, its settings) into the wheel; everything else is said in pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent


class Build(build_py):  # type: ignore[misc]
    """The package, and the app inside it: a wheel has no folder beside the package."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:  # the app stays where it is
            return
        for file in (HERE / "app.py", *sorted((HERE / "pages").glob("*.py")), HERE / ".streamlit" / "config.toml"):
            packed = Path(self.build_lib) / "bartviz" / "site" / file.relative_to(HERE)
            packed.parent.mkdir(parents=True, exist_ok=True)
            self.copy_file(str(file), str(packed))


setup(cmdclass={"build_py": Build})
