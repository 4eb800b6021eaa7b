"""JSON schemas of the files that grading services read, written from their documentation.

Gradescope: gradescope-autograders.readthedocs.io, Autograder Specifications. Classroom 50: the page
Advanced Autograding of its wiki and the fields that it lists. PrairieLearn: docs.prairielearn.com,
External Grading and Question.
"""

TEXT = {"type": "string"}
SOME_TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 0}
POINTS = {"type": "number", "minimum": 0}
VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}


def fields(required, optional=()):
    """Return the schema of an object that has no other fields."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [*required],
        "properties": {**required, **dict(optional)},
    }


GRADESCOPE = fields(
    {
        "tests": {
            "type": "array",
            "items": fields(
                {"name": SOME_TEXT, "score": POINTS, "max_score": POINTS},
                {
                    "status": {"enum": ["passed", "failed"]},
                    "number": TEXT,
                    "name_format": FORMAT,
                    "output": TEXT,
                    "output_format": FORMAT,
                    "tags": {"type": "array", "items": TEXT},
                    "visibility": VISIBILITY,
                    "extra_data": {"type": "object"},
                },
            ),
        }
    },
    {
        "score": POINTS,
        "execution_time": POINTS,
        "output": TEXT,
        "output_format": FORMAT,
        "test_output_format": FORMAT,
        "test_name_format": FORMAT,
        "visibility": VISIBILITY,
        "stdout_visibility": VISIBILITY,
        "extra_data": {"type": "object"},
        "leaderboard": {"type": "array"},
    },
)

CLASSROOM50 = fields(
    {
        "schema": {"const": "classroom50/result/v1"},
        "classroom": SOME_TEXT,
        "assignment": SOME_TEXT,
        "assignment_type": {"enum": ["individual", "group", "team"]},
        "owner": SOME_TEXT,
        "submission": {"type": "string", "pattern": "^submit/"},
        "commit": SOME_TEXT,
        "release": SOME_TEXT,
        "review": SOME_TEXT,
        "datetime": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
        "score": COUNT,
        "max-score": COUNT,
        "tests": {
            "type": "array",
            "items": {  # other fields are kept as they are
                "type": "object",
                "required": ["test-name", "passed", "score", "max-score"],
                "properties": {
                    "test-name": SOME_TEXT,
                    "passed": {"type": "boolean"},
                    "score": COUNT,
                    "max-score": COUNT,
                },
            },
        },
    },
    {"graded_at": TEXT, "submitted_by": {"type": "object"}},
)

CLASSROOM50_TESTS = fields(
    {
        "schema": {"const": "classroom50/tests/v1"},
        "tests": {
            "type": "array",
            "maxItems": 100,
            "items": fields(
                {
                    "name": {"type": "string", "minLength": 1, "maxLength": 100},
                    "type": {"enum": ["run"]},
                    "run": SOME_TEXT,
                },
                {
                    "setup": TEXT,
                    "timeout": {"type": "integer", "minimum": 0, "maximum": 600},
                    "exit-code": {"type": "integer", "minimum": 0, "maximum": 255},
                    "points": {"type": "integer", "minimum": 0, "maximum": 1000},
                },
            ),
        },
    }
)

PRAIRIELEARN = {
    "type": "object",
    "properties": {
        "gradable": {"type": "boolean"},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "message": TEXT,
        "output": TEXT,
        "format_errors": {"type": "array", "items": TEXT},
        "tests": {
            "type": "array",
            "items": fields(
                {"name": SOME_TEXT, "points": POINTS, "max_points": POINTS},
                {"description": TEXT, "message": TEXT, "output": TEXT, "images": {}},
            ),
        },
    },
    "anyOf": [
        {"required": ["score"]},
        {"required": ["gradable"], "properties": {"gradable": {"const": False}}},
    ],
}

PRAIRIELEARN_QUESTION = {
    "type": "object",
    "required": ["uuid", "type", "title", "topic"],
    "properties": {
        "type": {"const": "v3"},
        "title": SOME_TEXT,
        "topic": SOME_TEXT,
        "tags": {"type": "array", "items": TEXT},
        "gradingMethod": {"enum": ["Internal", "External", "Manual"]},
        "externalGradingOptions": fields(
            {"image": SOME_TEXT},
            {
                "entrypoint": {"type": "string", "pattern": "^/"},
                "timeout": {"type": "integer", "maximum": 600},
                "enableNetworking": {"type": "boolean"},
                "environment": {"type": "object"},
                "serverFilesCourse": {"type": "array"},
            },
        ),
    },
}
