import { formatCount, formatNumber } from "../../core/index.ts";
import type { OnProgress } from "../../run/control/index.ts";
import { duration, e2eMedian, type LoadProgress, loadLeft } from "./fit.ts";

/** Interval of lines without a terminal: logs must not fill up with progress. */
const PLAIN_EVERY_MS = 10_000;

/** Progress without a terminal: one line per event, and at intervals the overall progress. */
export function plainProgress(write: (text: string) => void): OnProgress {
  const loads = new Map<string, LoadProgress>();
  let checksShownMs = 0;
  let loadShownMs = Date.now();
  let stepShownMs = Date.now();
  let checksEndMs: number | undefined;
  return (event) => {
    if (event.kind === "suites") {
      checksEndMs = Date.now() + event.leftS * 1_000;
    } else if (event.kind === "checks") {
      const { done, total, what, unit = "check instance" } = event;
      if (done > 0 && Date.now() - checksShownMs < PLAIN_EVERY_MS) return;
      checksShownMs = Date.now();
      const left =
        checksEndMs === undefined || done === total
          ? ""
          : `, about ${duration((checksEndMs - checksShownMs) / 1_000)} left`;
      write(
        done === 0
          ? `gauntlet: ${formatCount(total, unit)}\n`
          : `gauntlet: ${formatNumber(done)} of ${formatCount(total, unit)} done (last: ${what})${left}\n`,
      );
    } else if (event.kind === "load") {
      loads.set(event.progress.run, event.progress);
      if (Date.now() - loadShownMs < PLAIN_EVERY_MS) return;
      loadShownMs = Date.now();
      write(`gauntlet: ${[...loads.values()].map(describe).join("  |  ")}\n`);
    } else if (event.kind === "step") {
      if (Date.now() - stepShownMs < PLAIN_EVERY_MS) return;
      stepShownMs = Date.now();
      const { text, leftS, atMost = false } = event;
      const left = leftS === undefined ? "" : `, ${duration(leftS)} left${atMost ? " at most" : ""}`;
      write(`gauntlet: ${text}${left}\n`);
    } else if (event.kind === "note" || event.kind === "notice" || event.kind === "suite") {
      // After a note, another load may follow.
      if (event.kind === "note") loads.clear();
      write(`gauntlet: ${event.text}\n`);
    } else if (event.kind === "cause") {
      write(`gauntlet: ✗ ${event.text}\n`);
    }
  };
}

function describe(progress: LoadProgress): string {
  const { run, phase, inFlight, sentPerS, admittedPerS, denied, failed, invalid = 0, waiting } = progress;
  const parts = [
    ...(waiting === undefined ? [] : [`waiting ${duration(waiting.leftS)} for ${waiting.what}`]),
    `${formatNumber(sentPerS)}/s sent`,
    `${formatNumber(admittedPerS)}/s admitted`,
    `${formatNumber(inFlight)} in flight`,
    ...e2eMedian(progress),
    ...(denied === 0 ? [] : [`${formatNumber(denied)} denied`]),
    ...(failed === 0 ? [] : [`${formatNumber(failed)} failed`]),
    ...(invalid === 0 ? [] : [`${formatNumber(invalid)} invalid`]),
    ...leftOf(progress),
  ];
  return `${phase === run ? run : `${run} ${phase}`}: ${parts.join(", ")}`;
}

/** `57 s left in the phase, 1 min 35 s left in the run`. */
function leftOf({ elapsedS, totalS, runLeftS, inFlight }: LoadProgress): string[] {
  if (totalS === undefined) return [];
  const phaseLeftS = totalS - elapsedS;
  if (runLeftS === undefined || runLeftS <= phaseLeftS || phaseLeftS <= 0) return loadLeft(phaseLeftS, inFlight);
  return [`${duration(phaseLeftS)} left in the phase, ${duration(runLeftS)} left in the run`];
}
