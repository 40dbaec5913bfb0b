"""Reads objects from standard input, one a line, and checks each against the JSON schema whose path is the argument.
Answers with a line at once: the object's type, or what is wrong with it.

The schema itself allows unknown members. A copy that allows none is used too, which shows that all members that hybz
writes are in the schema."""

import copy
import json
import sys

import jsonschema


def closed(schema):
    """The same schema, in which every object has only the members that are listed."""
    schema = copy.deepcopy(schema)
    for definition in schema["$defs"].values():
        definition["additionalProperties"] = False
    return schema


with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
validators = []
for one in (schema, closed(schema)):
    jsonschema.Draft202012Validator.check_schema(one)
    validators.append(jsonschema.Draft202012Validator(one))
for line in sys.stdin.buffer:
    value = json.loads(line)
    errors = [error.message.replace("\n", " ") for one in validators for error in one.iter_errors(value)]
    print(errors[0] if errors else value["type"], flush=True)
