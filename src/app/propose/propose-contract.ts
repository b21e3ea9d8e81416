import { DENIALS, type Reason } from "../../requirements/index.ts";
import type { Target } from "../../target/index.ts";
import type { DenialSample } from "./denial-sample.ts";
import type { ProposedLine } from "./proposed-line.ts";
import { type ReasonPlace, reasonPlace, wordAt } from "./reason-place.ts";

/** Lines of `headers` and `contract` by which denials are read as this gateway says them; none for what it says as specified. */
export function proposeContract(
  samples: readonly DenialSample[],
  { headers }: Pick<Target, "headers">,
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
  lines.push(...actionLines(denials, headers.action));
  return place === undefined ? lines : [...lines, ...denialLines(samples, place)];
}

/** Whether action hints come, and in which header. */
function actionLines(denials: readonly DenialSample[], usual: string): ProposedLine[] {
  if (denials.some(({ answer }) => answer.header(usual) !== undefined)) return [];
  const names = denials.map(({ answer }) =>
    answer.headers.map(([name]) => name).filter((name) => /action/i.test(name)),
  );
  const own = names[0]?.find((name) => names.every((others) => others.includes(name)));
  const [first] = denials;
  if (own !== undefined && first !== undefined) {
    const evidence = `${own}: ${first.answer.header(own)} on ${what(first)}`;
    return [{ path: ["headers", "action"], value: own, evidence }];
  }
  return [
    { path: ["contract", "actionHint"], value: false, evidence: `none of ${denials.length} denials has ${usual}` },
  ];
}

interface Said {
  readonly reason: Reason;
  readonly status: number;
  readonly words: readonly string[];
  readonly samples: readonly DenialSample[];
}

function denialLines(samples: readonly DenialSample[], place: ReasonPlace): ProposedLine[] {
  const said = DENIALS.flatMap(({ reason }): Said[] => {
    const own = samples.filter((sample) => sample.reason === reason);
    const words = [...new Set(own.flatMap((sample) => wordAt(sample, place) ?? []))];
    return words.length === 0 ? [] : [{ reason, status: mostCommon(own.map(statusOf)), words, samples: own }];
  });
  const messages = messagesOf(said, samples, place);
  return said.flatMap((one): ProposedLine[] => {
    const usual = DENIALS.find(({ reason }) => reason === one.reason);
    const status = one.status === usual?.status ? {} : { status: one.status };
    const isUsual = one.words.length === 1 && one.words[0] === one.reason;
    const word = isUsual ? {} : { reason: one.words.length === 1 ? one.words[0] : [...one.words] };
    const message = messages.get(one.reason);
    const value = { ...status, ...word, ...(message === undefined ? {} : { message }) };
    if (Object.keys(value).length === 0) return [];
    const [first] = one.samples;
    return [
      { path: ["contract", "denials", one.reason], value, evidence: first === undefined ? "" : evidenceOf(first) },
    ];
  });
}

/** Texts that tell denials from the others, and from a refused body, that have the same status and word. */
function messagesOf(said: readonly Said[], all: readonly DenialSample[], place: ReasonPlace): Map<Reason, string> {
  const alikeOf = ({ reason, status, words }: Said) =>
    all.filter(
      (sample) =>
        sample.reason !== reason && statusOf(sample) === status && words.includes(wordAt(sample, place) ?? ""),
    );
  const messages = new Map<Reason, string>();
  for (const one of said) {
    const alike = alikeOf(one);
    const varying = one.samples.flatMap(({ repeats }) => repeats ?? []);
    const texts = [one.samples, alike].map((samples) => samples.map(({ answer }) => answer.text));
    const message = alike.length === 0 ? undefined : commonWords(texts[0] ?? [], texts[1] ?? [], varying);
    if (message !== undefined) messages.set(one.reason, message);
  }
  // Where all that are alike have a text, the first needs none: what is left is read as it.
  for (const one of said) {
    const alike = alikeOf(one).map(({ reason }) => reason);
    const isFirst = alike.every((reason) => reason !== undefined && placeInTable(one.reason) < placeInTable(reason));
    if (isFirst && alike.every((reason) => reason !== undefined && messages.has(reason))) messages.delete(one.reason);
  }
  return messages;
}

const placeInTable = (wanted: Reason): number => DENIALS.findIndex(({ reason }) => reason === wanted);

/** A text of the contract is not longer than this: the shorter, the less of it can change. */
const MOST_WORDS = 5;

/**
 * The longest run of words that all texts have, none of the others has, and that repeats nothing of the request; one that begins
 * and ends with a word of its own, where there is one.
 */
export function commonWords(
  [first = "", ...rest]: readonly string[],
  others: readonly string[],
  varying: readonly string[],
): string | undefined {
  const words = [...first.slice(0, 2_000).matchAll(/\b[A-Za-z][\w'\u2019-]*/g)];
  const isOwn = (word: string | undefined) => word !== undefined && !others.some((text) => text.includes(word));
  const runs = words.flatMap((begin, from) =>
    words.slice(from, from + MOST_WORDS).map((end, at) => ({
      text: first.slice(begin.index, end.index + end[0].length),
      words: at + 1,
      isOwn: isOwn(begin[0]) && isOwn(end[0]),
    })),
  );
  const tells = runs.filter(
    ({ text }) =>
      // A quotation mark or a brace ends a value: what lies on both sides of it is JSON and no sentence.
      /^[\w '\u2019.,;-]+$/.test(text) &&
      !text.split(/[^\w-]/).some(isId) &&
      !varying.some((one) => text.includes(one) || one.includes(text)) &&
      rest.every((other) => other.includes(text)) &&
      !others.some((other) => other.includes(text)),
  );
  return tells.sort((a, b) => Number(b.isOwn) - Number(a.isOwn) || b.words - a.words)[0]?.text;
}

/** Whether a word is the name of one key, request or account, as far as its looks tell: it stands in no other answer. */
const isId = (word: string): boolean => word.length >= 8 && /\d/.test(word);

function statusOf({ answer }: DenialSample): number {
  return answer.status ?? 0;
}

function mostCommon(values: readonly number[]): number {
  const count = (value: number) => values.filter((other) => other === value).length;
  return [...values].sort((a, b) => count(b) - count(a))[0] ?? 0;
}

function what({ what: wrong }: DenialSample): string {
  return `the answer to ${wrong}`;
}

function evidenceOf({ what: wrong, answer }: DenialSample): string {
  return `${answer.status} to ${wrong}: ${answer.text}`;
}
