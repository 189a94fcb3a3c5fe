"""Sums JUnit reports for tools/dev: prints shell assignments REPORT_PASSED and REPORT_FAILED.

ctest's own entry for the lit suite is replaced by the entries of lit's report. A report that is missing counts as one failure.
"""
import sys
import xml.etree.ElementTree as ElementTree


def main():
    passed = failed = 0
    for path in sys.argv[1:]:
        try:
            cases = list(ElementTree.parse(path).iter("testcase"))
        except (OSError, ElementTree.ParseError):
            failed += 1
            continue
        for case in cases:
            if path.endswith("ctest.xml") and case.get("name") == "lit" and case.find("failure") is None:
                continue
            skipped = case.find("skipped")
            if skipped is not None and "Unable to find executable" in skipped.get("message", ""):
                failed += 1
                continue
            if skipped is not None or case.get("status") == "disabled":
                continue
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
            else:
                passed += 1
    print(f"REPORT_PASSED={passed} REPORT_FAILED={failed}")


if __name__ == "__main__":
    main()
