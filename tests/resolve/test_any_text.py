"""Law: whatever the grammar takes is lowered or refused with diagnostics that can be shown; nothing else happens."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sbc.diagnostics.diagnostic import Severity
from sbc.diagnostics.render import render_all
from tests.resolve.lowered import told
from tests.syntax.derive import texts

PROFILE = "\nprofile main-one { files { root private; read /usr } }\n"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(texts(), st.booleans())
def test_any_text_is_lowered_or_refused(text: str, with_profile: bool) -> None:
    found, reporter = told(text + (PROFILE if with_profile else ""), "main-one" if with_profile else None)
    assert render_all(reporter.diagnostics) or found is not None
    assert (found is None) == any(one.severity is Severity.ERROR for one in reporter.diagnostics)
