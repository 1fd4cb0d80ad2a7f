"""What other packages add to bartviz, by entry points: measures, patterns, families, and methods of attribution.

A package names them in its ``pyproject.toml``, in groups such as ``bartviz.measures``; docs/plugins.md describes each.
They are found once for a process, and a group is loaded when it is first asked for. ``BARTVIZ_PLUGINS=off`` leaves all
of them out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import metadata
from typing import Any, Literal, TypeVar, get_args

from bartviz.errors import SettingError
from bartviz.language import later

Group = Literal["measures", "patterns", "families", "methods"]
GROUPS: tuple[Group, ...] = get_args(Group)
SETTING = "BARTVIZ_PLUGINS"
OFF, ON = "off", "on"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point: its group and name, the package that has it with its version, what it leads to
    (``package.module:name``), and what that is."""

    group: Group
    name: str
    package: str
    leads_to: str
    added: Any

    def refused(self, reason: str) -> SettingError:
        """The error of a plugin that cannot be used."""
        return _refused(self.group, self.name, self.package, self.leads_to, reason)


def is_off() -> bool:
    """Whether plugins are left out. Raises SettingError for a setting that does not exist."""
    chosen = os.environ.get(SETTING, "").strip().lower()
    if chosen not in ("", ON, OFF):
        raise SettingError(later("{setting} is on or off: {value} is neither.", setting=SETTING, value=chosen))
    return chosen == OFF


def found(group: Group) -> Mapping[str, Plugin]:
    """The plugins of a group, by name, loaded. Raises SettingError, which names the plugin, for one that cannot be
    loaded, and where two packages add something of the same name."""
    return {} if is_off() else _loaded(group)


def check() -> None:
    """Load every plugin. Raises SettingError, which names the first that cannot be loaded."""
    for group in GROUPS:
        found(group)


@cache
def _loaded(group: Group) -> Mapping[str, Plugin]:
    plugins: dict[str, Plugin] = {}
    for entry in sorted(metadata.entry_points(group=f"bartviz.{group}"), key=lambda entry: entry.name):
        package = "" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
        try:
            added = entry.load()
        except Exception as error:
            reason = later("it raised {type}: {error}", type=type(error).__name__, error=error)
            raise _refused(group, entry.name, package, entry.value, reason) from error
        if entry.name in plugins:
            other = later("{package} has one of the same name", package=plugins[entry.name].package)
            raise _refused(group, entry.name, package, entry.value, other)
        plugins[entry.name] = Plugin(group, entry.name, package, entry.value, added)
    return plugins


def _refused(group: Group, name: str, package: str, leads_to: str, reason: str) -> SettingError:
    return SettingError(
        later(
            "The plugin {name} (bartviz.{group}, {leads_to}) of the package {package} cannot be used: {reason}. "
            "Mend or uninstall the package, or set {setting}=off.",
            name=name,
            group=group,
            leads_to=leads_to,
            package=package,
            reason=reason,
            setting=SETTING,
        )
    )


class Extended(Mapping[str, T]):
    """What is built in, by name, and after it what plugins add to a group: they are loaded when a name is asked for
    that is not built in, or when all are.

    accept: the name and the thing of a plugin; raises SettingError for one that is none of the kind.
    """

    def __init__(self, built_in: Mapping[str, T], group: Group, accept: Callable[[Plugin], tuple[str, T]]) -> None:
        self._built_in, self._group, self._accept = built_in, group, accept

    @property
    def built_in(self) -> Mapping[str, T]:
        """Those without plugins."""
        return self._built_in

    def _added(self) -> Mapping[str, T]:
        return {} if is_off() else self._accepted

    @cached_property
    def _accepted(self) -> Mapping[str, T]:
        added: dict[str, T] = {}
        for plugin in found(self._group).values():
            name, thing = self._accept(plugin)
            if name in self._built_in or name in added:
                raise plugin.refused(later("there is {name} already", name=name))
            added[name] = thing
        return added

    def __getitem__(self, name: str) -> T:
        return self._built_in[name] if name in self._built_in else self._added()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._built_in or name in self._added()

    def __iter__(self) -> Iterator[str]:
        yield from self._built_in
        yield from self._added()

    def __len__(self) -> int:
        return len(self._built_in) + len(self._added())
