import { expect, test } from "vitest";
import { ProgressMeter } from "../../../src/load/measure/progress.ts";
import { Tally } from "../../../src/load/measure/tally.ts";

test("a request counts as sent when it is written, and once", () => {
  const meter = new ProgressMeter();
  const tally = { total: { ...new Tally(0).total }, running: new Tally(0).running };
  const at = (elapsedS: number, inFlight: number) =>
    meter.read(tally, { run: "w", phase: "w", elapsedS, totalS: 10, inFlight });
  const first = at(1, 20);
  expect([first.sentPerS, first.admittedPerS, first.counts?.sent]).toEqual([20, 0, 20]);
  tally.total.sent = 20;
  tally.total.admitted = 20;
  const second = at(2, 5);
  expect([second.sentPerS, second.admittedPerS, second.counts?.sent]).toEqual([5, 20, 25]);
});
