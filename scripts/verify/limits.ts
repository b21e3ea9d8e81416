/**
 * Verifies `gauntlet limits`: every limiter of the reference gateway, at starter and growth size, in real time. It must report
 * the kind, the rate within 3 %, the burst and the concurrency limit.
 *
 *     npm run build && npm run verify limits                           about ten minutes, four gateways in parallel
 *     npm run verify limits -- --only limits.paced --sizes starter
 */
import { fileURLToPath } from "node:url";
import yargs from "yargs";
import { RequestBudget } from "../../src/budget/index.ts";
import { analyseLimits, type LimitsAnalysis } from "../../src/load/index.ts";
import { startEmbedded } from "../../src/target/index.ts";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const SIZES = { starter: { rpm: 300, inFlight: 64 }, growth: { rpm: 1_000, inFlight: 200 } } as const;
type Limits = { readonly rpm: number; readonly inFlight: number };

interface Expected {
  readonly kind: string;
  readonly burst: (rpm: number) => number;
}

const EXPECTED: Readonly<Record<string, Expected>> = {
  "limits.sliding-log": { kind: "sliding window", burst: (rpm) => rpm },
  "limits.fixed-window": { kind: "fixed window", burst: (rpm) => rpm },
  "limits.clock-minute": { kind: "clock-aligned window", burst: (rpm) => rpm },
  "limits.token-bucket": { kind: "token bucket", burst: (rpm) => rpm },
  "limits.token-bucket-half": { kind: "token bucket", burst: (rpm) => rpm / 2 },
  "limits.token-bucket-tenth": { kind: "token bucket", burst: (rpm) => rpm / 10 },
  "limits.paced": { kind: "paced", burst: () => 1 },
  "limits.paced-loosely": { kind: "paced", burst: (rpm) => Math.floor(rpm / 60) + 1 },
};

const args = await yargs(process.argv.slice(2))
  .option("only", { type: "string", array: true, default: Object.keys(EXPECTED) })
  .option("sizes", { choices: ["starter", "growth"] as const, array: true, default: ["starter", "growth"] as const })
  .option("workers", { type: "number", default: 4 })
  .strict()
  .parseAsync();

const jobs = args.sizes.flatMap((size) => args.only.map((variant) => ({ size, variant })));
let wrong = 0;
await Promise.all(
  Array.from({ length: args.workers }, async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await verify(job.variant, job.size);
  }),
);
console.log(wrong === 0 ? "limits: all as they should be" : `limits: ${wrong} wrong`);
process.exit(wrong === 0 ? 0 : 1);

async function verify(variant: string, size: "starter" | "growth"): Promise<void> {
  const limits = SIZES[size];
  // Long streams: a limiter without burst takes twelve seconds to reach the limit.
  const switches = [
    "--variant",
    variant,
    "--pieces",
    "250",
    "--pace",
    "120",
    "--limits",
    `${limits.rpm}:${limits.inFlight}`,
  ];
  await using gateway = await startEmbedded({ command: [process.execPath, MAIN, "gateway", ...switches] });
  const { target } = gateway;
  const analysis = await analyseLimits({
    target,
    key: target.keys.valid,
    second: target.keys.second,
    other: target.keys.other,
    declared: limits,
    budget: new RequestBudget(target.budget),
    bounds: { requests: 20_000, minutes: 10 },
    stop: new AbortController().signal,
  });
  const problems = problemsOf(analysis, EXPECTED[variant] as Expected, limits);
  if (problems.length > 0) wrong++;
  const { rate, concurrency, spent } = analysis;
  console.log(
    `${problems.length === 0 ? "ok   " : "WRONG"} ${variant} ${size}: ${rate.kind.value} (${rate.kind.confidence}), ${rate.perMinute.value}/min, burst ${rate.burst.value}, ${concurrency.inFlight.value} in flight, ${spent.requests} requests, ${spent.minutes.toFixed(1)} min${problems.map((problem) => `\n      ${problem}`).join("")}`,
  );
}

function problemsOf({ rate, concurrency }: LimitsAnalysis, expected: Expected, limits: Limits): string[] {
  const near = (value: number | null, expected: number, share: number, least = 0.5) =>
    value !== null && Math.abs(value - expected) <= Math.max(expected * share, least);
  const burst = expected.burst(limits.rpm);
  const checks: [boolean, string][] = [
    [rate.kind.value === expected.kind, `kind, expected ${expected.kind}: ${rate.kind.evidence}`],
    [near(rate.perMinute.value, limits.rpm, 0.03), `rate, expected ${limits.rpm}: ${rate.perMinute.evidence}`],
    [near(rate.burst.value, burst, 0.03, 1), `burst, expected ${burst}: ${rate.burst.evidence}`],
    [
      concurrency.inFlight.value === limits.inFlight,
      `in flight, expected ${limits.inFlight}: ${concurrency.inFlight.evidence}`,
    ],
    [rate.deniedCount.value !== "yes" && rate.deniedCount.value !== null, `denied: ${rate.deniedCount.evidence}`],
    [rate.listingCounts.value === "no", `listing: ${rate.listingCounts.evidence}`],
    [rate.scopes.key.value === "shared", `key: ${rate.scopes.key.evidence}`],
    [rate.scopes.account.value === "separate", `account: ${rate.scopes.account.evidence}`],
    [concurrency.freedAtEnd.value === "at once", `after the end: ${concurrency.freedAtEnd.evidence}`],
    [concurrency.freedOnDisconnect.value === "at once", `after leaving: ${concurrency.freedOnDisconnect.evidence}`],
  ];
  return checks.filter(([met]) => !met).map(([, what]) => what);
}
