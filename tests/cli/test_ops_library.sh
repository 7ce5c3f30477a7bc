#!/usr/bin/env bash
# The library of operations from the command line: the witnesses and laws of every manifest hold on the oracle,
# and every operation runs through `vyre run` with the values of its witnesses and gives what they expect. With a
# sanitizer one operation in eight does.
set -euo pipefail
: "${VYRE:?names the command to test}"
export VYRE_DIALECT_PATH=none

"$VYRE" ops check -b reference

"$VYRE" ops --format json 2>/dev/null | python3 -c '
import json, os, subprocess, sys

def number(text):
    for read in (lambda t: int(t, 0), float, float.fromhex):
        try:
            return read(text)
        except ValueError:
            pass
    return text

vyre = os.environ["VYRE"]
failed = ran = 0
one_in = 8 if "VYRE_TEST_SANITIZED" in os.environ else 1
for number_of, operation in enumerate(json.load(sys.stdin)):
    assert operation["doc"] and operation["signature"] and operation["targets"], operation["id"]
    if operation["category"] != "composite" or number_of % one_in:
        continue
    witness = operation["witnesses"][0]
    names = [word.split("=")[0] for word in witness["expected"]]
    command = [vyre, "run", operation["id"], "-b", "reference"] + witness["arguments"]
    for name in names:
        command += ["--print", name + ":all"]
    answer = subprocess.run(command, capture_output=True, text=True)
    # "NAME: TYPE[LENGTH]", then lines of elements that start with spaces.
    found = {}
    for line in answer.stdout.splitlines():
        if line.startswith(" "):
            found[name] += line.split()
        else:
            name = line.split(":")[0]
            found[name] = []
    ran += 1
    for word in witness["expected"]:
        name, value = word.split("=", 1)
        if value[0].isalpha() and ":" in value:
            if name not in found:
                failed += 1
                print(operation["id"], "does not print", name)
            continue # zeros:N and its like, which ops check compares
        expected = value.split(",")
        values = found.get(name, [])
        same = len(values) == len(expected) and all(
            a == b or number(a) == number(b) for a, b in zip(values, expected))
        if not same:
            failed += 1
            print(operation["id"], "gives", name, found.get(name), "and not", expected, answer.stderr)
print(ran, "operations run by vyre run,", failed, "failures")
sys.exit(failed > 0)
'
