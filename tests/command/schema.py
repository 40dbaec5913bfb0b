"""Reads objects from standard input, one a line, and checks each against the JSON schema whose path is the argument.

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
    for validator in validators:
        validator.validate(value)
    print(value["type"])
