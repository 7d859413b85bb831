#!/usr/bin/env python3
"""scripts/failures.py NAME RESULTS: the tests of CTest's JUnit file RESULTS that failed, with the end of what each printed.

For the end of a long log, where a reader looks first; NAME stands before each test.
"""
import sys
import xml.etree.ElementTree as ElementTree

LINES = 40  # of each test's output

name, results = sys.argv[1:]
for case in ElementTree.parse(results).getroot().iter("testcase"):
    if case.get("status") != "fail":
        continue
    failure = case.find("failure")
    print(f"{name}: {case.get('name')} failed after {case.get('time')} s {failure.get('message') if failure is not None else ''}".rstrip())
    output = (case.findtext("system-out") or "").rstrip().splitlines()
    for line in output[-LINES:]:
        print(f"    {line}")
