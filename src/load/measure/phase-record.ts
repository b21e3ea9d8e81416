import type { EventScanner, PreparedRequest } from "../../http/load-client/index.ts";
import { conclusionOf, finding } from "../../judging/index.ts";
import type { Finding, JudgedPhase, LoadVerdict, UndecidedReason } from "../../record/index.ts";
import type { RequestOutcome } from "../send/outcome.ts";
import type { Tally } from "./tally.ts";

type Failure = JudgedPhase["failures"][number];
/** What a phase counts by kind, besides its totals. */
export type CountedOutcomes = Pick<JudgedPhase, "denials" | "failures" | "invalidReplies" | "unknownFields">;

/** Maximum number of unknown fields that are counted: a gateway may invent one per reply. */
const MAX_UNKNOWN_FIELDS = 20;

/** Counts denials by reason and kind, and failures and invalid replies by what happened. */
export class OutcomeCounts {
  readonly #denials = new Map<string, JudgedPhase["denials"][number]>();
  readonly #failures = new Map<string, Failure>();
  readonly #invalidReplies = new Map<string, Failure>();
  readonly #unknownFields = new Map<string, number>();

  add(
    {
      prepared: { dialect, stream },
      scanner,
    }: {
      readonly prepared: Pick<PreparedRequest, "dialect" | "stream">;
      readonly scanner?: Pick<EventScanner, "unknownFields"> | undefined;
    },
    result: RequestOutcome,
    sample: string | undefined,
  ): void {
    const { outcome, what } = result;
    for (const name of scanner?.unknownFields ?? []) this.#addField(name, 1);
    if (outcome === "admitted") return;
    const exchange = sample === undefined ? {} : { exchange: sample };
    if (outcome === "denied") this.#addDenial({ reason: what, dialect, stream, count: 1, ...exchange });
    else addFailure(outcome === "invalid" ? this.#invalidReplies : this.#failures, { what, count: 1, ...exchange });
  }

  /** Adds another worker's counts. */
  merge({ denials, failures, invalidReplies, unknownFields }: CountedOutcomes): void {
    for (const denial of denials) this.#addDenial(denial);
    for (const failure of failures) addFailure(this.#failures, failure);
    for (const reply of invalidReplies) addFailure(this.#invalidReplies, reply);
    for (const { name, streams } of unknownFields) this.#addField(name, streams);
  }

  #addDenial(denial: JudgedPhase["denials"][number]): void {
    const name = `${denial.reason} ${denial.dialect} ${denial.stream}`;
    addCount(this.#denials, name, denial);
  }

  #addField(name: string, streams: number): void {
    const known = this.#unknownFields.get(name);
    if (known !== undefined || this.#unknownFields.size < MAX_UNKNOWN_FIELDS)
      this.#unknownFields.set(name, (known ?? 0) + streams);
  }

  close(): CountedOutcomes {
    return {
      denials: [...this.#denials.values()],
      failures: [...this.#failures.values()],
      invalidReplies: [...this.#invalidReplies.values()],
      unknownFields: [...this.#unknownFields].map(([name, streams]) => ({ name, streams })),
    };
  }
}

const addFailure = (failures: Map<string, Failure>, failure: Failure) => addCount(failures, failure.what, failure);

/** Adds to a count, which keeps the first exchange that was recorded for it. */
function addCount<T extends { count: number; exchange?: string | undefined }>(
  counts: Map<string, T>,
  name: string,
  added: T,
): void {
  const known = counts.get(name);
  if (known === undefined) counts.set(name, { ...added });
  else {
    known.count += added.count;
    known.exchange ??= added.exchange;
  }
}

export interface PhaseFacts {
  /** Set for a phase whose arrivals are sessions. */
  readonly sessions?: { readonly started: number; readonly completed: number } | undefined;
  readonly name: string;
  readonly title: string;
  readonly tally: Tally;
  readonly outcomes: OutcomeCounts;
  /** Seconds from the start of the run. */
  readonly startS: number;
  readonly durationS: number;
  readonly peakInFlight: number;
  readonly connections: number;
  readonly findings: readonly Finding[];
  /** Names of the findings that the phase must decide; those without a finding, met or broken, are undecided. */
  readonly questions: readonly string[];
}

/** Creates the record of a phase; callers with judges add their findings over samples. */
export function phaseRecord(facts: PhaseFacts): JudgedPhase {
  const { tally, startS, durationS } = facts;
  const findings = withUnanswered(facts.findings, facts.questions);
  const { total } = tally;
  const { classes, series, steady, heat } = tally.close(startS);
  const goodput = tally.goodput(durationS);
  const toolCalls = tally.toolCalls(durationS);
  return {
    name: facts.name,
    title: facts.title,
    ...verdictOf(findings),
    startS,
    durationS,
    ...total,
    ...tally.ratesAndShares(durationS),
    steady,
    ...(goodput === undefined ? {} : { goodput }),
    ...(toolCalls === undefined ? {} : { toolCalls }),
    ...(facts.sessions === undefined ? {} : { sessions: { ...facts.sessions, turns: tally.turns() } }),
    peakInFlight: facts.peakInFlight,
    connections: facts.connections,
    classes,
    series,
    ...(heat === undefined ? {} : { heat }),
    ...facts.outcomes.close(),
    findings,
    invariants: [],
    sampled: 0,
  };
}

/** Adds each question that no finding decides. */
function withUnanswered(findings: readonly Finding[], questions: readonly string[]): Finding[] {
  const missing = questions.filter((question) => !findings.some(({ name }) => name === question));
  return [
    ...findings,
    ...missing.map((name) =>
      finding({ name, title: name, requirements: [], undecided: "no request of the phase tested it", basis: "timing" }),
    ),
  ];
}

/** The verdict of a phase, from its findings. A phase in which nothing was compared does not pass. */
export function verdictOf(findings: readonly Finding[]): { verdict: LoadVerdict; message: string } {
  const { status, message } = conclusionOf(findings);
  switch (status) {
    case "pass":
    case "warn":
    case "fail":
      return { verdict: status, message };
    default:
      return { verdict: "inconclusive", message: status === "observed" ? "nothing was judged" : message };
  }
}

/**
 * A phase whose generator was not valid, or of which a part is missing: what depends on timing and counts is undecided, and the
 * content of responses stays judged.
 */
export function withoutTiming(phase: JudgedPhase, reason: UndecidedReason): JudgedPhase {
  const findings = phase.findings.map((one) => (one.basis === "timing" ? undecidedFor(one, reason) : one));
  return { ...phase, findings, ...verdictOf(findings) };
}

function undecidedFor({ name, title, requirements, basis, subject }: Finding, undecided: UndecidedReason): Finding {
  return finding({ name, title, requirements, basis, subject, undecided });
}

/** A count as a share, for a magnitude. */
export function ratioOf(count: number, of: number): number {
  return of === 0 ? 0 : count / of;
}
