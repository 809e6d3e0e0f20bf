"""Secrets, and variables that make a program load other code, never reach a gate's or a builder's command."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbc.diagnostics.diagnostic import Reporter
from sbc.pipeline import bundle_file
from sbc_runtime.bundle import decode
from sbc_runtime.contents import Bundle
from sbc_runtime.environment import build
from tests.cli.conftest import PROFILES

WORDS = (
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "AUTH",
    "CREDENTIAL",
    "PRIVATE",
    "CERT",
    "COOKIE",
)
BEGINNINGS = ("LD_", "DYLD_", "AWS_", "AZURE_", "GOOGLE_", "ANTHROPIC_", "OPENAI_", "SBC_", "GIT_", "PYTHON", "PERL")
NAMES = (
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_PAT",
    "AWS_ACCESS_KEY_ID",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AZURE_CLIENT_SECRET",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "HF_TOKEN",
    "SSH_AUTH_SOCK",
    "SSL_CERT_FILE",
    "PGPASSWORD",
    "MYSQL_PWD",
    "SSHPASS",
    "REDIS_URL",
    "MONGODB_URI",
    "AMQP_URL",
    "PIP_EXTRA_INDEX_URL",
    "DATABASE_URL",
    "KUBECONFIG",
    "DOCKER_AUTH_CONFIG",
    "NPM_TOKEN",
    "NODE_AUTH_TOKEN",
    "SBC_ADMIN_KEY",
    "NODE_OPTIONS",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PERL5OPT",
    "RUBYOPT",
    "BASH_ENV",
    "ENV",
    "BASH_FUNC_ls%%",
    "JAVA_TOOL_OPTIONS",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
    "GTK_MODULES",
    "GIO_EXTRA_MODULES",
    "QT_PLUGIN_PATH",
    "_JAVA_OPTIONS",
    "GCONV_PATH",
    "GIT_SSH_COMMAND",
    "GIT_CONFIG_COUNT",
    "PROMPT_COMMAND",
)
CHILD = """\
sbx 1
use "{parent}.sbx"
profile open extends {parent} {{
  environment {{ keep * }}
}}
"""


@pytest.fixture(scope="module", params=["gate", "builder"])
def bundle(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """A child that keeps every variable: what it does not get, no child gets."""
    folder = tmp_path_factory.mktemp("profiles")
    for name in ("gate", "builder"):
        (folder / f"{name}.sbx").write_bytes((PROFILES / f"{name}.sbx").read_bytes())
    child = folder / "open.sbx"
    child.write_text(CHILD.format(parent=request.param))
    content, _ = bundle_file(Path(child), None, Reporter())
    return decode(content)


def mixed(text: str) -> st.SearchStrategy[str]:
    """The text in any mixture of cases."""
    return st.lists(st.booleans(), min_size=len(text), max_size=len(text)).map(
        lambda low: "".join(one.lower() if small else one for one, small in zip(text, low, strict=True))
    )


part = st.text(st.characters(exclude_characters="=\0", exclude_categories=("Cs",)), max_size=6)
holding = st.tuples(part, st.sampled_from(WORDS).flatmap(mixed), part).map("".join)
beginning = st.tuples(st.sampled_from(BEGINNINGS).flatmap(mixed), part).map("".join)
secret = st.one_of(holding, beginning, st.sampled_from(NAMES).flatmap(mixed))
plain = st.sampled_from(["PATH", "LANG", "LC_ALL", "TERM", "HOME", "USER", "TMPDIR", "MAKEFLAGS", "CC"])


@given(
    st.dictionaries(secret, st.text(max_size=8)),
    st.dictionaries(plain, st.text(st.characters(codec="ascii", exclude_characters="\0"))),
)
def test_nothing_that_matches_passes(bundle: Bundle, secrets: dict[str, str], others: dict[str, str]) -> None:
    got = dict(build(bundle.plan.environment, {**others, **secrets}, {}))
    assert got == others


def test_what_the_shipped_profiles_keep(bundle: Bundle) -> None:
    """The child above keeps more; the profiles themselves name what they keep."""
    kept = {one.pattern for one in bundle.plan.environment.patterns if one.verb == "keep"}
    assert kept == {"*", "PATH", "LANG", "LC_*", "TERM", "HOME", "USER", "TMPDIR"}
