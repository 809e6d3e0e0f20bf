"""`sbc completion`: completion scripts for bash, zsh and fish, made from the commands' own parsers."""

import re
from argparse import ArgumentParser, Namespace

from sbc.cli.exits import FINE
from sbc.cli.output import print_json

SHELLS = ("bash", "zsh", "fish")


def configure(parser: ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("shell", choices=SHELLS)
    parser.epilog = (
        "examples:\n  sbc completion bash > ~/.local/share/bash-completion/completions/sbc\n"
        "  sbc completion fish > ~/.config/fish/completions/sbc.fish\n  source <(sbc completion zsh)"
    )


def run(args: Namespace) -> int:
    """Print the script."""
    options = _options()
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](options)
    if args.json:
        print_json({"shell": args.shell, "script": script})
    else:
        print(script, end="")
    return FINE


def _options() -> dict[str, list[str]]:
    """Give each command's long options, sorted, as its own help names them."""
    from sbc.cli.parser import build_parsers

    found = build_parsers(None).commands
    return {name: sorted(set(re.findall(r"--[a-z][a-z-]*", parser.format_usage()))) for name, parser in found.items()}


def _bash(options: dict[str, list[str]]) -> str:
    cases = "\n".join(f'    {name}) words="{" ".join(flags)}" ;;' for name, flags in options.items())
    return f"""\
_sbc() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join(options)}" -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _sbc sbc
"""


def _zsh(options: dict[str, list[str]]) -> str:
    from sbc.cli.commands import COMMANDS

    listed = "\n".join(f"    '{command.name}:{command.help}'" for command in COMMANDS)
    cases = "\n".join(f"    {name}) compadd -- {' '.join(flags)} ;;" for name, flags in options.items())
    return f"""\
#compdef sbc
_sbc() {{
  local -a commands
  commands=(
{listed}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  if [[ $words[CURRENT] != -* ]]; then
    _files
    return
  fi
  case $words[2] in
{cases}
  esac
}}
compdef _sbc sbc
"""


def _fish(options: dict[str, list[str]]) -> str:
    from sbc.cli.commands import COMMANDS

    lines = [
        f"complete -c sbc -n __fish_use_subcommand -f -a {command.name} -d '{command.help}'" for command in COMMANDS
    ]
    for name, flags in options.items():
        lines += [f"complete -c sbc -n '__fish_seen_subcommand_from {name}' -l {flag[2:]}" for flag in flags]
    return "\n".join(lines) + "\n"
