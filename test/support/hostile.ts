import { type ReportSource, readEvidence } from "../../reports/index.ts";
import type { JudgedRun } from "../../src/record/index.ts";
import { loadRun } from "./load-records.ts";
import { broken, exchangeLine, recordOf, result } from "./records.ts";

/** Something that must never be interpreted, in every language that a report is read in. */
export const HOSTILE = [
  "<script>globalThis.pwned=1</script>",
  "<img src=x onerror=globalThis.pwned=1>",
  '"><svg onload=globalThis.pwned=1>',
  "</script></style></title></pre><iframe src=https://evil.example.test>",
  "javascript:globalThis.pwned=1",
  "]]><!--",
  "\u0000\u0001\u001b[31mred\u001b]0;title\u0007\u009b2J",
  "\u202eright to left\u2066\u200b\ufeff\u2028\u2029",
  "\ud800 alone \udfff",
  "\n::error title=gotcha::injected\r\n::set-output name=x::y\n##vso[task.setvariable]z",
  "`code` **bold** [link](https://evil.example.test) | cell | <details> </details> &amp; @everyone",
  "%0A::add-mask::x",
  "back\\slash \"quote\" 'single' $HOME $(id)",
  "# EOF\n# TYPE fake counter",
].join(" ");

/** 10 MB of it. */
const GIANT = HOSTILE.repeat(Math.ceil(10_000_000 / HOSTILE.length));

/** The metrics of a gateway that uses everything as a label. */
function hostileWatched(): NonNullable<JudgedRun["watched"]> {
  const leak = {
    resource: `process_open_fds{of="${HOSTILE}"}`,
    ...{ unit: "count" as const, verdict: "growth" as const, first: 1, peak: 3, last: 3, message: HOSTILE },
    perMinute: { value: 1, low: 0.5, high: 1.5 },
  };
  const values = [1, 2, 3];
  const series = [HOSTILE, GIANT].map((of) => ({
    name: "process_open_fds",
    labels: { of },
    kind: "gauge" as const,
    values,
  }));
  return {
    processes: { pid: 1, unit: { name: HOSTILE, cgroup: HOSTILE }, samples: [], leaks: [leak] },
    metrics: {
      ...{ url: `http://127.0.0.1/${HOSTILE}`, everyS: 1, atS: [0, 1, 2], series, leaks: [leak] },
      ...{ dropped: [{ name: HOSTILE, series: 2 }], scrapes: 4, failed: 1 },
      firstFailure: { atS: 0, message: HOSTILE },
    },
  };
}

/** A run against a gateway that puts the above wherever it can, and a target with a hostile name. */
export function hostileSource(): ReportSource {
  const id = `auth.evil[${HOSTILE}]`;
  const finding = broken({
    observed: HOSTILE,
    expected: HOSTILE,
    subject: HOSTILE,
    pointer: `/${HOSTILE}`,
    exchanges: ["x00001"],
  });
  const giant = broken({ observed: GIANT, expected: GIANT, subject: GIANT, exchanges: ["x00002"] });
  const checks = [
    result(id, "fail", { title: HOSTILE, message: HOSTILE, findings: [finding], exchanges: ["x00001", "x00003"] }),
    result("auth.giant", "fail", { title: GIANT, message: GIANT, findings: [giant], exchanges: ["x00002"] }),
    result("auth.blocked", "blocked", { message: HOSTILE, unblock: [HOSTILE] }),
    result("auth.warned", "warn", {
      message: HOSTILE,
      findings: [broken({ ...finding, name: "AUTH-5", requirements: ["AUTH-5"], weight: "warn" })],
    }),
    result("auth.lost", "inconclusive", { message: HOSTILE }),
    result("auth.broken", "harness-error", { message: HOSTILE }),
    result("auth.seen", "observed", {
      requirements: ["BASE-5"],
      message: HOSTILE,
      findings: [broken({ name: "BASE-5", requirements: ["BASE-5"], met: undefined, observed: HOSTILE })],
    }),
    result("auth.fine", "pass", { message: HOSTILE }),
  ];
  const record = recordOf(checks, {
    load: { runs: [loadRun("watched", { watched: hostileWatched() })] },
    target: {
      name: HOSTILE,
      baseUrl: `https://gw.example.test/${HOSTILE}`,
      source: `../${HOSTILE}.yaml`,
      build: HOSTILE,
      reading: { reasonHeader: "X-Reason", actionHeader: "X-Action" },
    },
    configuration: { value: { keys: { [HOSTILE]: `env:${HOSTILE}` }, note: HOSTILE }, sha256: "1".repeat(64) },
    verdict: {
      result: "fail",
      exitCode: 1,
      headline: `FAIL: ${HOSTILE}`,
      reasons: [
        { kind: "run", text: HOSTILE },
        { kind: "cause", text: GIANT, check: id },
      ],
      qualifiers: [HOSTILE],
    },
  });
  const response = (text: string, type: string) => ({
    status: 200,
    headers: [
      ["Content-Type", type],
      [HOSTILE, HOSTILE],
      ["X-Request-Id", HOSTILE],
    ],
    interim: [],
    trailers: [],
    body: { bytes: text.length, receivedBytes: text.length, pieces: [[8_000, text.length]], text },
  });
  const request = {
    method: "POST",
    url: `https://x/${HOSTILE}`,
    headers: [[HOSTILE, HOSTILE]],
    body: HOSTILE,
    bodyBytes: 1,
  };
  const lines = new Map([
    ["x00001", exchangeLine("x00001", { key: HOSTILE, request, response: response(HOSTILE, "text/html") })],
    [
      "x00002",
      exchangeLine("x00002", { request: { ...request, body: GIANT }, response: response(GIANT, "text/plain") }),
    ],
    ["x00003", exchangeLine("x00003", { response: response(`data: ${HOSTILE}\n\n`.repeat(100), "text/event-stream") })],
  ]);
  return { record, evidence: (id) => readEvidence(lines.get(id)) };
}
