import type { DenialMessage } from "../dialects/index.ts";
import { DENIALS, type Reason } from "../requirements/index.ts";
import type { Target } from "../target/index.ts";
import type { DenialSample } from "./denial-sample.ts";
import type { ProposedLine } from "./proposed-line.ts";
import { type ReasonPlace, reasonPlace, wordAt } from "./reason-place.ts";
import { tellingMessages } from "./telling-message.ts";

/**
 * Lines of `headers` and `contract` for reading this gateway's denials; none for what it already does as specified.
 *
 * @param supplied input of the tester, which must not become part of a line.
 */
export function proposeContract(
  samples: readonly DenialSample[],
  { headers }: Pick<Target, "headers">,
  supplied: readonly string[],
): ProposedLine[] {
  const denials = samples.filter(({ reason }) => reason !== undefined);
  const [first] = denials;
  const place = reasonPlace(samples, headers.reason);
  if (first === undefined) return [];
  const named = denials.find((sample) => place !== undefined && wordAt(sample, place) !== undefined) ?? first;
  const lines: ProposedLine[] = [];
  if (place?.kind === "header" && place.name.toLowerCase() !== headers.reason.toLowerCase())
    lines.push({ path: ["headers", "reason"], value: place.name, evidence: evidenceOf(named) });
  if (place?.kind === "pointer")
    lines.push({ path: ["contract", "reasonFrom"], value: place.pointer, evidence: evidenceOf(named) });
  return [...lines, ...actionLines(denials, headers.action), ...denialLines(samples, place, supplied)];
}

/** Whether action hints are sent, and in which header. */
function actionLines(denials: readonly DenialSample[], usual: string): ProposedLine[] {
  if (denials.some(({ response }) => response.header(usual) !== undefined)) return [];
  const names = denials.map(({ response }) =>
    response.headers.map(([name]) => name).filter((name) => /action/i.test(name)),
  );
  const own = names[0]?.find((name) => names.every((others) => others.includes(name)));
  const [first] = denials;
  if (own !== undefined && first !== undefined) {
    const evidence = `${own}: ${first.response.header(own)} in the response to ${first.what}`;
    return [{ path: ["headers", "action"], value: own, evidence }];
  }
  return [
    { path: ["contract", "actionHint"], value: false, evidence: `none of ${denials.length} denials has ${usual}` },
  ];
}

/** A denial as observed in the samples. */
interface Said {
  readonly reason: Reason;
  readonly status: number;
  /** Reason codes, if every sample of the status has one. */
  readonly words: readonly string[];
  readonly samples: readonly DenialSample[];
  /** Other samples with the same status and code. */
  readonly alike: readonly DenialSample[];
}

function denialLines(
  samples: readonly DenialSample[],
  place: ReasonPlace | undefined,
  supplied: readonly string[],
): ProposedLine[] {
  const codeOf = (sample: DenialSample) => (place === undefined ? undefined : wordAt(sample, place));
  const said = DENIALS.flatMap(({ reason }): Said[] => {
    const all = samples.filter((sample) => sample.reason === reason);
    if (all.length === 0) return [];
    const status = mostCommon(all.map(statusOf));
    const own = all.filter((sample) => statusOf(sample) === status);
    const codes = own.map(codeOf);
    const words = codes.includes(undefined) ? [] : [...new Set(codes as string[])];
    const isAlike = (sample: DenialSample) => {
      const code = codeOf(sample);
      return words.length === 0 || (code !== undefined && words.includes(code));
    };
    const others = samples.filter((sample) => sample.reason !== reason && statusOf(sample) === status);
    return [{ reason, status, words, samples: own, alike: others.filter(isAlike) }];
  });
  const messages = new Map(said.map((one) => [one.reason, messagesFor(one, supplied)]));
  return said.flatMap((one) => {
    const line = denialLine(one, isLeftOver(one, messages) ? undefined : messages.get(one.reason));
    return line === undefined ? [] : [line];
  });
}

/** Messages for a denial without a code, or that shares its code with another denial or a rejected body. */
function messagesFor({ words, samples, alike }: Said, supplied: readonly string[]) {
  return words.length === 0 || alike.length > 0 ? tellingMessages(samples, alike, supplied) : undefined;
}

/** If all others with the same code have a message, the first needs none: it matches what is left. */
function isLeftOver(
  { reason, words, alike }: Said,
  messages: ReadonlyMap<Reason, readonly DenialMessage[] | undefined>,
): boolean {
  const others = alike.map((sample) => sample.reason);
  return (
    words.length > 0 &&
    others.every(
      (other) => other !== undefined && orderOf(reason) < orderOf(other) && messages.get(other) !== undefined,
    )
  );
}

function denialLine({ reason, status, words, samples }: Said, messages: readonly DenialMessage[] | undefined) {
  const usual = DENIALS.find((denial) => denial.reason === reason);
  const isUsual = words.length === 1 && words[0] === reason;
  // Without a code or a message the denial cannot be recognised.
  if (words.length === 0 && messages === undefined) return undefined;
  const value = {
    ...(status === usual?.status ? {} : { status }),
    ...(words.length === 0 || isUsual ? {} : { reason: words.length === 1 ? words[0] : [...words] }),
    ...(messages === undefined ? {} : { message: messages.length === 1 ? messages[0] : [...messages] }),
  };
  const [first] = samples;
  if (Object.keys(value).length === 0 || first === undefined) return undefined;
  const line: ProposedLine = { path: ["contract", "denials", reason], value, evidence: evidenceOf(first) };
  return line;
}

const orderOf = (named: Reason): number => DENIALS.findIndex(({ reason }) => reason === named);

export function statusOf({ response }: DenialSample): number {
  return response.status ?? 0;
}

function mostCommon(values: readonly number[]): number {
  const count = (value: number) => values.filter((other) => other === value).length;
  return [...values].sort((a, b) => count(b) - count(a))[0] ?? 0;
}

export function evidenceOf({ what, response }: DenialSample): string {
  return `${response.status} to ${what}: ${response.text}`;
}
