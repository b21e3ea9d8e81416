// real-time: checks fill the limits of a minute and wait for Retry-After
import { expect, test } from "vitest";
import { RequestBudget } from "../../../src/budget/index.ts";
import { type RateInference, readScopes } from "../../../src/limits/index.ts";
import { concurrencyExperiment } from "../../../src/load/analysis/limits/concurrency-experiment.ts";
import { LiveGateway } from "../../../src/load/analysis/limits/live-gateway.ts";
import { longRequests } from "../../../src/load/analysis/limits/request-kinds.ts";
import { startEmbedded } from "../../../src/target/index.ts";
import { gauntlet, MAIN } from "../../support/gauntlet.ts";

const MUTATION = ["--mutation", "denial.concurrency-limit-exceeded-unnamed"];

const known = <T>(value: T) => ({ value, confidence: "high", evidence: "given" }) as const;
/** What is known about the rate: it is ample. */
const EVEN_REFILL: RateInference = {
  kind: known("token bucket"),
  perMinute: known(6_000),
  perMinuteRange: [6_000, 6_000],
  burst: known(6_000),
  windowS: null,
  deniedCount: known("no"),
  listingCounts: known("no"),
  scopes: readScopes([], []),
  fits: [],
};

test("a limit that is enforced without a reason code is enforced, and its reason is missing", {
  timeout: 120_000,
}, async () => {
  const only = [
    "limits.concurrency-enforced",
    "limits.concurrency-exact",
    "limits.concurrency-held",
    "limits.concurrency-released",
  ];
  const { stdout } = await gauntlet(["conform", ...MUTATION, ...only.flatMap((id) => ["--only", id]), "--json"]);
  const { checks } = JSON.parse(stdout) as {
    checks: {
      id: string;
      status: string;
      violated: string[];
      message: string;
      findings: { name: string; outcome: string }[];
    }[];
  };
  const [enforced, ...others] = checks;
  expect(enforced).toMatchObject({ id: "limits.concurrency-enforced", status: "fail", violated: ["ERR-429-CONC"] });
  expect(enforced?.message).toMatch(
    /^sent \d+ concurrent requests with a limit of 4: 4 admitted, \d+ got 429 without a reason code: expected 429 concurrency_limit_exceeded, got "429" \(response: 429\)$/,
  );
  expect(enforced?.findings.filter(({ name }) => name === "LIMIT-CONC-1").map(({ outcome }) => outcome)).toEqual([
    "met",
  ]);
  expect(others.map(({ id, status, message }) => `${id} ${status}${status === "pass" ? "" : `: ${message}`}`)).toEqual([
    "limits.concurrency-exact pass",
    "limits.concurrency-held pass",
    "limits.concurrency-released pass",
  ]);
});

test("limits: the concurrency limit is found from denials without a reason code", { timeout: 60_000 }, async () => {
  await using embedded = await startEmbedded({ command: [process.execPath, MAIN, "gateway", ...MUTATION] });
  const { target } = embedded;
  const account = target.limited.find(({ limits }) => limits.rpm > 1_000);
  if (account === undefined) throw new Error("the embedded gateway has no account with a low concurrency limit");
  const own = { target, key: account.key, second: account.second, other: undefined };
  await using gateway = new LiveGateway({
    ...own,
    maxConnections: 64,
    share: new RequestBudget({ requests: 500, outputTokens: 1_000_000 }).reserve(500),
    durationMs: 40_000,
    stop: new AbortController().signal,
  });
  const { inFlight, freedAtEnd } = await concurrencyExperiment(gateway, {
    rate: EVEN_REFILL,
    prepared: longRequests(own),
    declared: account.limits.inFlight,
    minuteMs: 60_000,
    maxStreams: 32,
  });
  expect(inFlight.value).toBe(account.limits.inFlight);
  expect(freedAtEnd.value).toBe("at once");
});
