import { expect, test } from "vitest";
import { judgeLevel } from "../../../src/load/analysis/capacity/judge-level.ts";
import { parseObjective } from "../../../src/load/analysis/capacity/objective.ts";
import { Histogram } from "../../../src/metrics/index.ts";

const PHASE = { offered: 512, failed: 0, denied: 0, dropped: 0 };

test("a share that is met by too few requests says how many are needed", () => {
  const [outcome] = judgeLevel(parseObjective("failed < 0.1%"), PHASE, []);
  // Wilson's interval of 0 of n ends below 0.1 % from 3,838 on.
  expect(outcome).toEqual({
    clause: "failed < 0.1%",
    met: true,
    sure: false,
    observed: "0.00 % of 512",
    needed: 3_838,
  });
});

test("a share that is decided needs no more requests", () => {
  const [outcome] = judgeLevel(parseObjective("failed < 0.1%"), { ...PHASE, failed: 100 }, []);
  expect(outcome).toMatchObject({ met: false, sure: true, needed: undefined });
});

test("a share that is exactly the allowed one is never decided", () => {
  const [outcome] = judgeLevel(parseObjective("failed < 12.5%"), { ...PHASE, failed: 64 }, []);
  expect(outcome).toMatchObject({ met: true, sure: false, needed: undefined });
});

test("a quantile names its value, and how many requests were over the bound", () => {
  const histogram = new Histogram();
  for (let ms = 1; ms <= 1_000; ms++) histogram.record(ms * 1_000);
  const [outcome] = judgeLevel(parseObjective("response_ms p99 < 800"), { ...PHASE, offered: 1_000 }, [
    { tag: "chat.non-streaming.admitted.response", histogram, startMs: 0, endMs: 1_000 },
  ]);
  expect(outcome).toMatchObject({ met: false, sure: true });
  expect(outcome?.observed).toMatch(/^99\d\.\d ms; (19|20)\d of 1,000 over 800 ms$/);
});
