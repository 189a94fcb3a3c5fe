"""Sums JUnit reports for tools/dev: `sum_reports.py CTEST.xml LIT.xml` prints shell assignments REPORT_PASSED and REPORT_FAILED.

ctest's one entry for the lit suite is replaced by the entries of lit's report, unless it failed and they tell of no failure. A missing report of ctest is one failure.
"""
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """True, False, or None for a test that was left out."""
    skipped = case.find("skipped")
    if skipped is not None and "Unable to find executable" in skipped.get("message", ""):
        return False
    if skipped is not None or case.get("status") == "disabled":
        return None
    return case.find("failure") is None and case.find("error") is None


def outcomes(path):
    """Name and outcome of every test of a report; none if there is no report."""
    try:
        return [(case.get("name"), outcome(case)) for case in ElementTree.parse(path).iter("testcase")]
    except (OSError, ElementTree.ParseError):
        return []


def main():
    ctest, lit = outcomes(sys.argv[1]), outcomes(sys.argv[2])
    results = [result for name, result in ctest if name != "lit"] or [False] * (not ctest)
    suite = [result for name, result in ctest if name == "lit"]
    if suite:
        parts = [result for _, result in lit]
        results += parts if parts and (suite[0] or False in parts) else parts + [False]
    print(f"REPORT_PASSED={results.count(True)} REPORT_FAILED={results.count(False)}")


if __name__ == "__main__":
    main()
