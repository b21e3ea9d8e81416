import { expect, test } from "vitest";
import type { Response, Session } from "../../src/checks/index.ts";
import { latestDenial } from "../../suites/limits/rate/tested-wait.ts";
import { seen } from "../support/seen-response.ts";

/** A session whose requests get these statuses in turn. */
function sessionOf(statuses: readonly number[]) {
  const sent: Response[] = [];
  const start = () => {
    const status = statuses[sent.length] ?? 429;
    const denied = { reason: "rate_limit_exceeded", headers: { "retry-after": "2" } };
    const response = seen({ sentMs: 0, endMs: 5, status, ...(status === 429 ? denied : {}) });
    sent.push(response);
    return { done: Promise.resolve(response) };
  };
  return { t: { start } as unknown as Session, sent };
}

test("a denial before an admitted request is not the latest: the admitted one took the capacity to wait for", async () => {
  const { t, sent } = sessionOf([200, 429]);
  let bursts = 0;
  const reachLimit = async () => ++bursts > 0;
  expect(await latestDenial(t, {}, reachLimit)).toBe(sent[1]);
  expect([bursts, sent.length]).toEqual([1, 2]);
});

test("there is none if requests are admitted after every burst, or if a burst is not denied", async () => {
  const always = sessionOf([200, 200, 200, 200, 200]);
  expect(await latestDenial(always.t, {}, async () => true)).toBeNull();
  expect(always.sent.length).toBe(4);
  expect(await latestDenial(sessionOf([200]).t, {}, async () => false)).toBeNull();
});
