"""The stories that `make test` tells are there."""

import pytest

from tests.browser.conftest import SMOKE, story

pytestmark = [pytest.mark.browser, pytest.mark.smoke]


def test_every_story_of_the_sample_is_walked(request):
    kinds = {story(item) for item in request.session.items}
    if len(kinds) > 1:  # else this test was selected alone
        assert kinds >= SMOKE
