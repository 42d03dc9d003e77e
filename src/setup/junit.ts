/**
 * Counts the test cases of JUnit files, as Deno (`--junit-path`) and Swift (`--xunit-output`) write them.
 *
 * @module
 */

/** How test cases ended. */
export interface TestCounts {
  /** Ran and passed. */
  readonly passed: number;
  /** Failed, or broke off. */
  readonly failed: number;
  /** Did not run. */
  readonly skipped: number;
}

/**
 * Counts `<testcase>` elements by what they contain.
 *
 * @throws {SyntaxError} If the text is no JUnit file, e.g. because its writer was killed.
 */
export function parseJunit(xml: string): TestCounts {
  // Texts inside attributes and elements are escaped, so a tag is a tag.
  if (!/<testsuites?\b/.test(xml) || !/<\/testsuites?>\s*$/.test(xml)) throw new SyntaxError("no whole JUnit file");
  const cases = xml.split(/<testcase\b/).slice(1).map((text) => {
    const end = text.search(/\/>|>/);
    const isEmpty = text.startsWith("/>", end);
    return isEmpty ? "" : text.slice(end, text.indexOf("</testcase>"));
  });
  const failed = cases.filter((body) => /<(failure|error)\b/.test(body)).length;
  const skipped = cases.filter((body) => /<skipped\b/.test(body) && !/<(failure|error)\b/.test(body)).length;
  return { passed: cases.length - failed - skipped, failed, skipped };
}

/** The sum. */
export function addCounts(counts: readonly TestCounts[]): TestCounts {
  return counts.reduce((sum, one) => ({
    passed: sum.passed + one.passed,
    failed: sum.failed + one.failed,
    skipped: sum.skipped + one.skipped,
  }), { passed: 0, failed: 0, skipped: 0 });
}

/** `12 passed, 0 failed`, and what was skipped if anything was. */
export function toSummary({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
