import { expect, test } from "vitest";
import type { Observation } from "../../../src/judging/index.ts";
import { waitsOf } from "../../../src/limits/index.ts";
import { judgeWaits, RATE_WAITS } from "../../../src/load/analysis/judge-waits.ts";
import { audit } from "../../../src/load/schedule/compliant-clients.ts";
import { judgeRecovery } from "../../../src/load/tier/recovery.ts";
import { sent } from "../support/observations.ts";

const LIMIT = 4;
const denied = (atS: number, retryAfterS: number | null = 1) =>
  sent(atS, {
    ...{ phase: "recovery", role: "fleet", outcome: "denied", what: "rate_limit_exceeded", status: 429 },
    ...(retryAfterS === null
      ? {}
      : { retryAfter: `${retryAfterS}`, retryAfterWaitMs: retryAfterS * 1_000, exchange: "x" }),
  });
const admitted = (atS: number) => sent(atS, { phase: "recovery", role: "fleet" });
/** The wave of retries when the window is over. */
const WAVE = Array.from({ length: LIMIT + 4 }, () => sent(70, { phase: "recovery", role: "again" }));

/** The findings for a recovery phase whose clients made these attempts. */
function judged(attempts: readonly (readonly Observation[])[], deniedCount = false) {
  const served = attempts.filter((own) => own.at(-1)?.outcome === "admitted").length;
  const all = [...attempts.flat(), ...WAVE];
  const fleet = { served, aborted: attempts.length - served, uncertain: 0, parallel: 4, attempts, ...audit(attempts) };
  const waits = waitsOf(attempts, all, { deniedCount });
  const script = { waits, fleet, fleetStartUs: 0, fleetEndUs: 1 };
  const denials = all.filter(({ outcome }) => outcome === "denied");
  const findings = [...judgeRecovery(all, all, script, LIMIT), ...judgeWaits(waits, { ...RATE_WAITS, denials })];
  return Object.fromEntries(findings.map((one) => [one.name, one]));
}

/** Four clients that retry after each second, eleven times. */
const TOO_SOON = Array.from({ length: 4 }, (_, client) =>
  Array.from({ length: 12 }, (_none, attempt) => denied(client / 100 + attempt * 1.05)),
);

test("a fleet that keeps its Retry-After waits and is never served has insufficient waits, and nothing is undecided", () => {
  const findings = judged(TOO_SOON);
  expect(findings["retry-after.sufficient"]).toMatchObject({
    ...{ outcome: "broken", weight: "warn", requirements: ["LIMIT-RATE-6"] },
    observed: facts(expect.stringContaining("0.0 % of 44 tested waits")),
  });
  expect(findings["recovery.served"]).toMatchObject({ outcome: "broken", weight: "warn" });
  expect(Object.values(findings).filter(({ outcome }) => outcome === "undecided")).toEqual([]);
});

test("if no client was served and no wait was tested, nothing is decided", () => {
  expect(judged(TOO_SOON.map((own) => own.map(() => denied(0, null))))["recovery.served"]?.outcome).toBe("undecided");
  // Denied requests may count at this gateway, so other clients may have used the freed capacity.
  expect(judged(TOO_SOON, true)["recovery.served"]?.outcome).toBe("undecided");
});

test("sufficient waits meet the requirement", () => {
  const findings = judged(
    Array.from({ length: 4 }, (_, client) => [denied(client / 100), admitted(1.1 + client / 100)]),
  );
  expect(findings["retry-after.sufficient"]?.outcome).toBe("met");
  expect(findings["recovery.served"]?.outcome).toBe("met");
});

/** Observed facts. */
function facts(text: unknown): object {
  return { kind: "facts", text };
}
