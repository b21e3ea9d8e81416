import { formatNumber } from "../../core/index.ts";
import type { ProgressEvent, Step, SuiteProgress } from "../../run/control/index.ts";
import { duration, e2eMedian, fitLine, type LoadProgress, loadLeft } from "./fit.ts";

type Of<K extends ProgressEvent["kind"]> = Extract<ProgressEvent, { readonly kind: K }>;

interface Wait {
  readonly what: string;
  readonly untilMs: number;
}

/** A load that has been silent this long has ended, ms: it reports twice a second. */
const SILENT_MS = 5_000;
/** Shorter steps need no clock, seconds. */
const BRIEF_S = 2;

/**
 * What is in progress in a run, one line each: a step such as connecting, each active suite, each tier. Pure: it takes events
 * with their times, and returns the lines for a moment.
 */
export class Board {
  #checks: Of<"checks"> | undefined;
  #suites: (Of<"suites"> & { readonly atMs: number }) | undefined;
  readonly #waits = new Map<string, Wait>();
  readonly #loads = new Map<string, { readonly progress: LoadProgress; readonly atMs: number }>();
  #step: (Step & { readonly atMs: number }) | undefined;
  #sinceMs = 0;

  take(event: ProgressEvent, nowMs: number): void {
    switch (event.kind) {
      case "checks":
        if (event.done === 0) this.#step = undefined;
        this.#checks = event;
        break;
      case "suites":
        this.#suites = { ...event, atMs: nowMs };
        break;
      case "wait":
        this.#noteWait(event, nowMs);
        break;
      case "load":
        this.#step = undefined;
        this.#loads.set(event.progress.run, { progress: event.progress, atMs: nowMs });
        break;
      case "step":
        // Progress of the same step does not reset its clock.
        if (this.#step === undefined || headOf(this.#step.text) !== headOf(event.text)) this.#sinceMs = nowMs;
        this.#step = { ...event, atMs: nowMs };
        break;
      default:
    }
  }

  /** The lines for a terminal of this width, at most `rows`. */
  lines({ columns, rows }: { readonly columns: number; readonly rows: number }, nowMs: number): string[] {
    const loads = [...this.#loads.values()].filter(({ atMs }) => nowMs - atMs < SILENT_MS);
    const suites = this.#suitesUnderWay();
    const width = Math.max(
      0,
      ...suites.map(({ suite }) => suite.length),
      ...loads.map(({ progress }) => progress.run.length),
    );
    const lines = [
      ...this.#stepLine(nowMs),
      ...this.#checksLine(nowMs),
      ...loads.map(({ progress, atMs }) => loadLine(progress, width, (nowMs - atMs) / 1_000)),
      ...suites.map((suite) => this.#suiteLine(suite, width, nowMs)),
    ];
    const shown = lines.length <= rows ? lines : lines.slice(0, Math.max(1, rows));
    return shown.map(([head, ...parts]) => fitLine(`  ${head}`, parts, columns));
  }

  #noteWait({ suite, what, forMs }: Of<"wait">, nowMs: number): void {
    const untilMs = nowMs + forMs;
    const known = this.#waits.get(suite);
    // The longest of several waits determines when the suite continues.
    if (known === undefined || known.untilMs < untilMs) this.#waits.set(suite, { what, untilMs });
  }

  #suitesUnderWay(): readonly SuiteProgress[] {
    return (this.#suites?.suites ?? []).filter(
      ({ done, over, running }) => !over && (done > 0 || running !== undefined),
    );
  }

  #stepLine(nowMs: number): string[][] {
    if (this.#step === undefined) return [];
    const { text, leftS, atMost = false, atMs } = this.#step;
    const elapsedS = (nowMs - this.#sinceMs) / 1_000;
    if (leftS === undefined) return [[text, ...(elapsedS < BRIEF_S ? [] : [`for ${Math.floor(elapsedS)} s`])]];
    return [[text, `${duration(leftS - (nowMs - atMs) / 1_000)} left${atMost ? " at most" : ""}`]];
  }

  #checksLine(nowMs: number): string[][] {
    if (this.#checks === undefined || this.#checks.done === this.#checks.total) return [];
    const { done, total, unit = "check instance" } = this.#checks;
    const parts = [`${done} of ${total} ${unit}s`];
    if (this.#suites !== undefined) {
      const { leftS, atMs, suites } = this.#suites;
      const failed = suites.reduce((sum, one) => sum + one.failed, 0);
      parts.push(`about ${duration(leftS - (nowMs - atMs) / 1_000)} left`);
      if (failed > 0) parts.push(`${failed} failed`);
    }
    return [[unit === "scenario" ? "client:" : "conformance:", ...parts]];
  }

  #suiteLine({ suite, done, total, failed, running }: SuiteProgress, width: number, nowMs: number): string[] {
    const wait = this.#waits.get(suite);
    const count = `${done}/${total}`.padStart(7);
    const isWaiting = wait !== undefined && wait.untilMs > nowMs;
    return [
      `${suite.padEnd(width)} ${count}`,
      isWaiting ? `waiting ${duration((wait.untilMs - nowMs) / 1_000)} for ${wait.what}` : (running ?? "queued"),
      ...(failed === 0 ? [] : [`${formatNumber(failed)} failed`]),
      ...(isWaiting && running !== undefined ? [`running ${running}`] : []),
    ];
  }
}

/** A step's text without its progress numbers. */
function headOf(text: string): string {
  return text.replace(/\d+/g, "");
}

/** Without denials, the admitted rate equals the sent rate, so the latency is shown before it. */
function loadLine(progress: LoadProgress, width: number, sinceS: number): string[] {
  const { run, phase, elapsedS, totalS, runLeftS, waiting, inFlight, denied, failed, invalid = 0 } = progress;
  const phaseLeftS = totalS === undefined ? undefined : totalS - elapsedS;
  const leftS = runLeftS ?? phaseLeftS;
  const [sent, admitted] = [
    `${formatNumber(progress.sentPerS)}/s sent`,
    `${formatNumber(progress.admittedPerS)}/s admitted`,
  ];
  const now = `${formatNumber(inFlight)} in flight`;
  const latency = e2eMedian(progress);
  return [
    run.padEnd(width),
    phase === run ? `${Math.floor(elapsedS)} s` : phase,
    ...(leftS === undefined ? [] : loadLeft(leftS - sinceS, inFlight)),
    ...(waiting === undefined ? [] : [`waiting ${duration(waiting.leftS - sinceS)} for ${waiting.what}`]),
    ...(failed === 0 ? [] : [`${formatNumber(failed)} failed`]),
    ...(invalid === 0 ? [] : [`${formatNumber(invalid)} invalid`]),
    ...(denied === 0
      ? [sent, ...latency, admitted, now]
      : [`${formatNumber(denied)} denied`, sent, admitted, ...latency, now]),
  ];
}
