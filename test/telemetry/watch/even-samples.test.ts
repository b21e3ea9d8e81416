import { expect, test } from "vitest";
import { EvenSamples } from "../../../src/telemetry/watch/even-samples.ts";

test("however long a run is, its samples are few, at even intervals, and end with the latest", () => {
  for (const max of [4, 5, 16])
    for (let length = 0; length <= 200; length++) {
      const samples = new EvenSamples<number>(max);
      for (let index = 0; index < length; index++) samples.add(index);
      const { all } = samples;
      const why = `${length} samples, ${max} at most: ${all.join(" ")}`;
      expect(all.length, why).toBeLessThanOrEqual(max + 1);
      if (length < max) expect(all, why).toHaveLength(length);
      else expect(all.length, why).toBeGreaterThanOrEqual(max / 2);
      expect(all.at(-1), why).toBe(length === 0 ? undefined : length - 1);
      const steps = new Set(all.slice(1, -1).map((sample, index) => sample - (all[index] ?? 0)));
      expect(steps.size, why).toBeLessThanOrEqual(1);
    }
});
