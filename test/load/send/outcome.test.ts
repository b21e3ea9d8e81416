import { expect, test } from "vitest";
import { outcomeOf } from "../../../src/load/send/outcome.ts";

const outcomeFor = (status: number, reason?: string) =>
  outcomeOf(
    { status, ending: "complete", prepared: { stream: false }, headers: [], body: "" } as unknown as Parameters<
      typeof outcomeOf
    >[0],
    () => reason,
  );

test("a server that timed out waiting for a request denied nothing", () => {
  // Some gateways close connections that were idle for a minute after opening with an unsolicited 408; a request may cross it.
  expect(outcomeFor(408, "invalid_request")).toEqual({ outcome: "failed", what: "408" });
  expect(outcomeFor(408)).toEqual({ outcome: "failed", what: "408" });
});

test("any other mistake of the caller is a denial, by its reason or its status", () => {
  expect(outcomeFor(404, "model_not_found")).toEqual({ outcome: "denied", what: "model_not_found" });
  expect(outcomeFor(422)).toEqual({ outcome: "denied", what: "422" });
  expect(outcomeFor(503)).toEqual({ outcome: "failed", what: "503" });
});
