"""What a grading machine found out about the answer to one exercise."""

from __future__ import annotations

from dataclasses import dataclass

from gpukit.classroom.export import base
from gpukit.classroom.export.base import Test
from gpukit.course.catalogue import Exercise

# The statuses of what is not run: where a service counts attempts, it costs none.
NOT_GRADABLE = ("absent", "untouched", "syntax", "rejected")


@dataclass(frozen=True)
class Mark:
    """The status of an answer, as in the report of `gpukit grade`, and what the student reads."""

    exercise: Exercise
    status: str
    text: str

    @property
    def name(self) -> str:
        """The exercise's name."""
        return self.exercise.name

    @property
    def points(self) -> int:
        """The points that the answer earns."""
        return sum(test.points for test in self.tests if self.passes(test))

    @property
    def of(self) -> int:
        """The points that a right answer earns."""
        return self.exercise.points

    @property
    def tests(self) -> tuple[Test, Test]:
        """The two tests of the exercise."""
        return base.tests(self.exercise)

    def passes(self, test: Test) -> bool:
        """Whether the answer passes a test."""
        return self.status in test.passing

    def said(self, test: Test) -> str:
        """Return what the student reads about a test: the first that fails explains all."""
        failed = [test for test in self.tests if not self.passes(test)]
        if test not in failed:
            return test.says
        return self.text if test == failed[0] else "See the test above."
