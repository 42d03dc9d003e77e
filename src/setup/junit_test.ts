import assert from "node:assert/strict";
import { addCounts, parseJunit, toSummary } from "./junit.ts";

const DENO = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="4" failures="1" errors="0" time="0.026">
    <testsuite name="./j_test.ts" tests="4" disabled="1" errors="0" failures="1">
        <testcase name="a &lt;b&gt; &amp; &quot;c&quot;" classname="./j_test.ts" time="0.001" line="1" col="6">
        </testcase>
        <testcase name="ignored" classname="./j_test.ts" time="0.000" line="2" col="6">
            <skipped/>
        </testcase>
        <testcase name="fails" classname="./j_test.ts" time="0.004" line="3" col="6">
            <failure message="Uncaught Error: x &lt;y/&gt;">Error: x &lt;/testcase&gt;
            </failure>
        </testcase>
        <testcase name="&lt;skipped/&gt; is only a name" classname="./j_test.ts" time="0.001" line="4" col="6">
        </testcase>
    </testsuite>
</testsuites>
`;

const SWIFT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="TestResults" errors="0" tests="3" failures="1" skipped="1" time="1.5">
    <testcase classname="EngineTests.Queue" name="fills()" time="0.1" />
    <testcase classname="EngineTests.Queue" name="drops()" time="0.1"><failure message="expected" /></testcase>
    <testcase classname="EngineTests.Queue" name="waits()" time="0.1">
      <skipped>needs Metal</skipped>
    </testcase>
  </testsuite>
</testsuites>
`;

Deno.test("JUnit files of Deno and Swift are counted by their cases, not by what their attributes claim", () => {
  assert.deepEqual(parseJunit(DENO), { passed: 2, failed: 1, skipped: 1 });
  assert.deepEqual(parseJunit(SWIFT), { passed: 1, failed: 1, skipped: 1 });
  assert.equal(toSummary(addCounts([parseJunit(DENO), parseJunit(SWIFT)])), "3 passed, 2 failed, 2 skipped");
});

Deno.test("a JUnit file that was cut off is an error, not a small count", () => {
  assert.throws(() => parseJunit(DENO.slice(0, -20)), SyntaxError);
  assert.throws(() => parseJunit(""), SyntaxError);
});
