import type { Response, Traffic } from "../checks/index.ts";
import { DIALECTS, readRateLimit } from "../dialects/index.ts";
import { dialectAdvice, modelsToTry } from "../run/preflight/index.ts";
import { parseTarget, type Target } from "../target/index.ts";
import { proposeContract } from "./propose-contract.ts";
import { proposeProfiles } from "./propose-profiles.ts";
import { type ProposedLine, withLines } from "./proposed-line.ts";
import { misreadAs, type ReadDenial, readByProposal, readingRemarks } from "./read-proposal.ts";
import { type DialectSample, type GatewaySample, isServed, sampleGateway } from "./sample-gateway.ts";

/** A proposed target file, and how it reads the denials recorded for it. */
export interface Proposal {
  readonly yaml: string;
  /** Redacted summary of the last response, if no request was served: `401 invalid_api_key`. */
  readonly unserved: string | undefined;
  readonly read: readonly ReadDenial[];
  /** What it recognises, and each denial that it does not, without keys. */
  readonly remarks: readonly string[];
}

/**
 * Probes a running gateway and writes what its target file can declare: models and dialects that respond, denial messages,
 * limits stated in headers. Sends at most 40 requests, one at a time, plus those that reach the limits of the accounts under
 * `limited`. Finally, the recorded denials are read with the proposal: a line that misreads another denial is removed, and
 * denials that are not recognised are listed.
 *
 * @param file text of the existing target file that `traffic` was made with; its contents are kept.
 * @returns a valid target file; each added line has its evidence as a comment, without keys.
 * @throws UnreachableError when no HTTP response arrives.
 */
export async function propose(traffic: Traffic, file: string): Promise<Proposal> {
  const { target } = traffic;
  const sample = await sampleGateway(traffic);
  const { redactor } = traffic.recorder;
  let lines = redactor.redactValue([
    ...modelLines(sample),
    ...dialectLines(target, sample),
    ...limitLines(sample),
    ...proposeContract(sample.denials, target, suppliedBy(sample)),
  ]);
  const remarks = remarksOf(sample, target);
  for (;;) {
    // Validate with our own reader first; the keys are unchanged.
    const read = readByProposal(sample.denials, parseTarget(withLines(file, lines, []), target.source, process.env));
    const wrong = misreadAs(read);
    const kept = lines.filter(({ path }) => path[1] !== "denials" || !wrong.includes(path[2] ?? ""));
    if (kept.length === lines.length) {
      const about = redactor.redactValue(readingRemarks(read));
      const profiles = proposeProfiles(sample, target, read);
      const all = [...redactor.redactValue(remarks), ...about, ...profiles];
      const unserved = redactor.redactValue(lastUnserved(sample));
      return { yaml: withLines(file, lines, all), read, remarks: about, unserved };
    }
    lines = kept;
  }
}

/** Input of the tester: a message that contains it does not hold for other runs. */
function suppliedBy({ denials, dialects, list }: GatewaySample): string[] {
  const models = [...dialects.flatMap(({ tried }) => tried.map(({ id }) => id)), ...modelsToTry(list)];
  const unknown = denials.flatMap(({ unknownModel }) => unknownModel ?? []);
  return [...new Set([...models, ...unknown])];
}

function modelLines({ dialects }: GatewaySample): ProposedLine[] {
  return dialects.filter(isServed).map((sample): ProposedLine => {
    const { id, response } = sample.tried.at(-1) as DialectSample["tried"][number];
    const stream = sample.stream?.streamed === true ? "also as a stream" : `as a stream: ${sample.stream?.summary}`;
    return {
      path: ["models", sample.dialect],
      value: id,
      evidence: `${response.summary}, ${stream}`,
    };
  });
}

function dialectLines(target: Target, { dialects }: GatewaySample): ProposedLine[] {
  const responses = dialects.flatMap(({ tried }) => tried.map(({ response }) => response));
  const advice = dialectAdvice(target, responses);
  const served = dialects.filter(isServed).map(({ dialect }) => dialect);
  return advice === undefined || served.length === DIALECTS.length
    ? []
    : [{ path: ["dialects"], value: served, evidence: advice.cause }];
}

const RATE_HEADER = /^(x-)?ratelimit-limit(-requests)?$/i;
const CONCURRENCY_HEADER = /^(?!.*remaining)(?=.*limit).*(concurren|in-?flight|parallel)/i;

/** Limits that responses state in numbers: both, because the file cannot declare one without the other. */
function limitLines(sample: GatewaySample): ProposedLine[] {
  const { rate, concurrency } = statedLimits(sample);
  if (rate === undefined || concurrency === undefined) return [];
  const evidence = `${rate.name}: ${rate.value}, ${concurrency.name}: ${concurrency.value}`;
  return [{ path: ["limits"], value: { rpm: rate.value, inFlight: concurrency.value }, evidence }];
}

function statedLimits({ list, dialects }: GatewaySample) {
  const responses = [list, ...dialects.flatMap(({ tried }) => tried.map(({ response }) => response))];
  const stated = (pattern: RegExp) =>
    responses.flatMap(({ headers }: Response) =>
      headers.flatMap(([name, value]) =>
        pattern.test(name)
          ? (readRateLimit(value)?.perMinute ?? []).flatMap((limit) =>
              Number.isInteger(limit) && limit > 0 ? [{ name, value: limit }] : [],
            )
          : [],
      ),
    )[0];
  return { rate: stated(RATE_HEADER), concurrency: stated(CONCURRENCY_HEADER) };
}

function lastUnserved({ dialects }: GatewaySample): string | undefined {
  if (dialects.some(isServed)) return undefined;
  return dialects.flatMap(({ tried }) => tried).at(-1)?.response.summary;
}

/** Observations that do not become a line. */
function remarksOf(sample: GatewaySample, { limits }: Target): string[] {
  const seen = sample.denials.map(({ reason }) => reason);
  const unseen = [
    ...(seen.includes("rate_limit_exceeded") ? [] : ["the rate"]),
    ...(seen.includes("concurrency_limit_exceeded") ? [] : ["concurrency"]),
  ];
  const { rate, concurrency } = statedLimits(sample);
  const unserved = sample.dialects.filter((one) => !isServed(one));
  return [
    ...unserved.flatMap(({ dialect, tried }) => {
      const last = tried.at(-1);
      return last === undefined ? [] : [`${dialect}: no model replied; the last, ${last.id}: ${last.response.summary}`];
    }),
    ...(limits === undefined && rate !== undefined && concurrency === undefined
      ? [`limits: { rpm: ${rate.value}, inFlight: … } # ${rate.name}: ${rate.value}; no header states the other`]
      : []),
    ...(unseen.length === 0
      ? []
      : [
          `No denial for ${unseen.join(" or ")} was seen, so its wording is not proposed: name accounts with low limits under limited.`,
        ]),
  ];
}
