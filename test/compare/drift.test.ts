import { expect, test } from "vitest";
import { type Behaviour, type ComparedResponse, driftBetween } from "../../src/compare/drift.ts";
import { result } from "../support/records.ts";

type Seen = Pick<ComparedResponse, "kind" | "status"> & { readonly reason?: string };

/** One check with these responses. */
function behaviourOf(...seen: readonly Seen[]): Behaviour {
  const responses = new Map(
    seen.map(({ kind, status, reason }, index) => [
      String(index),
      { kind, status, reason, headers: [], documents: [], message: undefined },
    ]),
  );
  return { checks: [result("auth.unknown-key[chat]", "pass", { exchanges: [...responses.keys()] })], responses };
}

const control: Seen = { kind: "chat non-streaming, valid request", status: 200 };
const rejected: Seen = { kind: "chat non-streaming, request to be denied", status: 401, reason: "invalid_api_key" };
const served: Seen = { kind: "chat non-streaming, request to be denied", status: 200 };

test("statuses are compared for each kind of request, not together with the control request", () => {
  const where = "auth.unknown-key[chat]";
  expect(driftBetween(behaviourOf(control, rejected), behaviourOf(control, served))).toEqual([
    { kind: "status", where, what: "status (request to be denied)", before: "401", now: "200" },
    { kind: "reason", where, what: "reason (request to be denied)", before: "invalid_api_key", now: "none" },
  ]);
  // As sets, both sides would be 200 and 401.
  const swapped = [
    { ...control, status: 401 },
    { ...rejected, status: 200 },
  ];
  expect(driftBetween(behaviourOf(control, rejected), behaviourOf(...swapped))).toMatchObject([
    { what: "status (valid request)", before: "200", now: "401" },
    { what: "status (request to be denied)", before: "401", now: "200" },
  ]);
});

test("several kinds of requests that differ in the same way are one difference of their check", () => {
  const streaming = (one: Seen) => ({ ...one, kind: one.kind.replace("non-streaming", "streaming") });
  const drift = driftBetween(
    behaviourOf(rejected, streaming(rejected)),
    behaviourOf({ ...rejected, status: 403 }, streaming({ ...rejected, status: 403 })),
  );
  expect(drift).toMatchObject([{ what: "status (request to be denied)", before: "401", now: "403" }]);
});

test("a control request that varies between two runs of one build does not hide a change of the request under test", () => {
  const flapping = { ...control, status: 500 };
  const drift = driftBetween(
    behaviourOf(control, rejected),
    behaviourOf(control, served),
    behaviourOf(flapping, rejected),
  );
  expect(drift).toMatchObject([{ what: "status (request to be denied)" }, { what: "reason (request to be denied)" }]);
});
