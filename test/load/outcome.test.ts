import { expect, test } from "vitest";
import { outcomeOf } from "../../src/load/outcome.ts";

const answered = (status: number, reason?: string) =>
  outcomeOf(
    { status, ending: "complete", prepared: { stream: false }, headers: [], body: "" } as unknown as Parameters<
      typeof outcomeOf
    >[0],
    () => reason,
  );

test("a server that gave up waiting for a request refused nobody", () => {
  // Some gateways close connections that were idle for a minute after opening with an unsolicited 408; a request may cross it.
  expect(answered(408, "invalid_request")).toEqual({ outcome: "failed", what: "408" });
  expect(answered(408)).toEqual({ outcome: "failed", what: "408" });
});

test("whatever else is a mistake of the caller is a denial, by its reason or its status", () => {
  expect(answered(404, "model_not_found")).toEqual({ outcome: "denied", what: "model_not_found" });
  expect(answered(422)).toEqual({ outcome: "denied", what: "422" });
  expect(answered(503)).toEqual({ outcome: "failed", what: "503" });
});
