"""Which profile is meant, and the profiles that it extends."""

from sbc.diagnostics.catalogue import modules as problems
from sbc.diagnostics.diagnostic import Reporter
from sbc.record import Record
from sbc.resolve.modules import Module
from sbc.resolve.scope import Scopes, unknown_profile
from sbc.syntax import tree

MAX_CHAIN = 16


class Level(Record):
    """One profile of a chain: what it says, and the file that its names are looked up from."""

    profile: tree.Profile
    module: Module
    blocks: dict[str, tree.Block]


def chain_of(main: Module, wanted: "tree.Profile | str | None", scopes: Scopes, reporter: Reporter) -> list[Level]:
    """Give a profile of the file, by its name or the only one, then those that it extends, nearest first."""
    profile = wanted if isinstance(wanted, tree.Profile) else _chosen(main, wanted, reporter)
    if profile is None:
        return []
    levels = [_level(profile, main, reporter)]
    while (parent := levels[-1].profile.extends) is not None:
        found = scopes.profile(levels[-1].module, parent)
        if found is None or not isinstance(found.node, tree.Profile):
            break
        nodes = [level.profile for level in levels]
        if any(found.node is node for node in nodes):
            names = [node.name.text for node in nodes]
            start = next(index for index, node in enumerate(nodes) if node is found.node)
            reporter.add(problems.ExtendsCycle(parent.span, (*names[start:], found.node.name.text)))
            break
        if len(levels) == MAX_CHAIN:
            reporter.add(problems.ExtendsDepth(parent.span, MAX_CHAIN))
            break
        levels.append(_level(found.node, found.module, reporter))
    return levels


def _chosen(main: Module, name: str | None, reporter: Reporter) -> tree.Profile | None:
    profiles = [item for item in main.tree.items if isinstance(item, tree.Profile)]
    names = tuple(dict.fromkeys(profile.name.text for profile in profiles))
    if name is not None:
        for profile in profiles:
            if profile.name.text == name:
                return profile
        reporter.add(unknown_profile(None, name, list(names)))
    elif not profiles:
        reporter.add(problems.NoProfile(None, main.name))
    elif len(names) > 1:
        reporter.add(problems.SeveralProfiles(profiles[1].name.span, names))
    else:
        return profiles[0]
    return None


def _level(profile: tree.Profile, module: Module, reporter: Reporter) -> Level:
    blocks: dict[str, tree.Block] = {}
    for block in profile.blocks:
        first = blocks.setdefault(block.keyword.text, block)
        if first is not block:
            reporter.add(problems.RepeatedBlock(block.keyword.span, block.keyword.text, first.keyword.span))
    return Level(profile, module, blocks)
