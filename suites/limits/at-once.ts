import type { Response } from "../../src/checks/index.ts";
import { isServed } from "./burst.ts";

/** How many served requests were running at one moment, from their first byte to their last. */
export function mostAtOnce(answers: readonly Response[]): number {
  const edges = answers.filter(isServed).flatMap(({ exchange }) => {
    const startUs = exchange.response?.body.pieces[0]?.[0] ?? exchange.timeline.endUs;
    return [
      { atUs: startUs, change: 1 },
      { atUs: exchange.timeline.endUs, change: -1 },
    ];
  });
  let now = 0;
  let most = 0;
  // Where one ends and another begins at once, the end counts first.
  for (const { change } of edges.sort((a, b) => a.atUs - b.atUs || a.change - b.change)) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}
