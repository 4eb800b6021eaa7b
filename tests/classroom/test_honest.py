"""Right answers are right, however people write them, and `test` and `grade` agree."""

import pytest

from gpukit.classroom import intake, work
from gpukit.classroom.work import Task
from gpukit.course import catalogue
from tests.classroom import corpus

pytestmark = pytest.mark.slow
HONEST = list(corpus.honest())
SEED = 4711


@pytest.mark.costly
@pytest.mark.parametrize("case", HONEST, ids=lambda case: case.id)
def test_an_honest_variant_is_right(case, tmp_path, isolation):
    corpus.place(case, tmp_path)
    (found,) = intake.collect(tmp_path, [catalogue.find(case.exercise)])
    report = work.grade_one(Task(found, SEED, isolation))
    assert report["status"] == "right", report["why"]
