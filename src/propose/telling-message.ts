import { groupBy } from "../core/index.ts";
import { type DenialMessage, findDenial, textsOf } from "../dialects/index.ts";
import { messageProblem } from "../target/index.ts";
import { areVaried, type DenialSample } from "./denial-sample.ts";

/** Longest message of a contract: the shorter, the less it can vary. */
const MAX_WORDS = 5;
const MAX_CHARACTERS = 2_000;
/** Values of the caller are usually in quotation marks, in brackets or after an equals sign. */
const QUOTED =
  /(?<![\p{L}\d])(["'`\u201c\u2018\u00ab])(?:(?!\1|["\u201d\u2019\u00bb])[^\n]){1,120}?["'`\u201d\u2019\u00bb](?![\p{L}\d])|[([{<][^\])}>\n]{0,120}[\])}>]|=\s*\S+/gu;
const BREAK = "\n";

/**
 * Messages that distinguish a denial: a run of fixed words that all its texts share and no other text has, or a pattern of a
 * whole sentence. If the texts share nothing, each kind, and then each endpoint, gets its own message.
 *
 * @param supplied input of the tester: models, prompts, names.
 */
export function tellingMessages(
  own: readonly DenialSample[],
  others: readonly DenialSample[],
  supplied: readonly string[],
): readonly DenialMessage[] | undefined {
  let least: readonly DenialMessage[] | undefined;
  for (const groups of [[own], groupsBy(own, kindOf), groupsBy(own, endpointOf), groupsBy(own, bothOf)]) {
    const messages = groups.map((group) => tellingMessage(group, others, supplied));
    const found = messages.filter((message) => message !== undefined);
    if (found.length === 0 || found.length < messages.length) continue;
    if (!found.some(isOneWord)) return distinct(found);
    // A single word is weak: it may occur in texts that were not observed.
    least ??= distinct(found);
  }
  return least;
}

/** Whether each group that would need its own message was observed with more than one key. */
export function isShownOften(samples: readonly DenialSample[]): boolean {
  return groupsBy(samples, kindOf).every(areVaried);
}

const isOneWord = (message: DenialMessage): boolean => typeof message === "string" && !/\s/.test(message);
const kindOf = ({ kind }: DenialSample): string => kind;
const endpointOf = ({ response }: DenialSample): string => response.requested.endpoint;
const bothOf = (sample: DenialSample): string => `${kindOf(sample)} ${endpointOf(sample)}`;

function groupsBy(samples: readonly DenialSample[], nameOf: (sample: DenialSample) => string): DenialSample[][] {
  return [...groupBy(samples, nameOf).values()];
}

function distinct(messages: readonly DenialMessage[]): DenialMessage[] {
  return [...new Map(messages.map((message) => [JSON.stringify(message), message])).values()];
}

function tellingMessage(
  own: readonly DenialSample[],
  others: readonly DenialSample[],
  supplied: readonly string[],
): DenialMessage | undefined {
  if (!areVaried(own)) return undefined;
  const words = commonWords(own.map(bodyOf), others.map(bodyOf), supplied);
  const found = words ?? sentencePattern(own.map(bodyOf), supplied);
  if (found === undefined || messageProblem(found) !== undefined) return undefined;
  const isIn = (sample: DenialSample) =>
    findDenial([{ reason: "", status: 0, messages: [found] }], {
      status: 0,
      code: undefined,
      body: () => bodyOf(sample),
    });
  return own.every(isIn) && !others.some(isIn) ? found : undefined;
}

const bodyOf = ({ response }: DenialSample): string => response.text;

/** The sentences of a body, without what a caller may have supplied. */
function sentencesOf(body: string): string[] {
  const texts = textsOf(body);
  // The body itself is a sentence only if it is not JSON.
  const sentences = texts.length > 1 ? texts.slice(1) : texts;
  return sentences.map((text) => text.slice(0, MAX_CHARACTERS).replace(QUOTED, BREAK));
}

/**
 * The longest run of words that all bodies share, that no other body has, and that repeats no supplied text; preferably one
 * that begins and ends with a distinctive word.
 */
export function commonWords(
  [first = "", ...rest]: readonly string[],
  others: readonly string[],
  supplied: readonly string[],
): string | undefined {
  const all = rest.map(sentencesOf);
  const other = others.flatMap(textsOf);
  const isOwn = (word: string | undefined) => word !== undefined && !other.some((text) => text.includes(word));
  const runs = sentencesOf(first).flatMap((text) => {
    const words = [...text.matchAll(/(?<![\w'\u2019-])[\p{L}][\p{L}\d_'\u2019-]*/gu)];
    return words.flatMap((begin, from) =>
      words.slice(from, from + MAX_WORDS).map((end, at) => ({
        text: text.slice(begin.index, end.index + end[0].length),
        words: at + 1,
        isOwn: isOwn(begin[0]) && isOwn(end[0]),
      })),
    );
  });
  const tells = runs.filter(
    ({ text }) =>
      // Any other character separates a sentence from a value.
      /^[\p{L}\d_ '\u2019.,;-]+$/u.test(text) &&
      !isVariable(text, supplied) &&
      all.every((sentences) => sentences.some((sentence) => sentence.includes(text))) &&
      !other.some((sentence) => sentence.includes(text)),
  );
  const isRun = ({ words }: (typeof tells)[number]) => Number(words > 1);
  return tells.sort((a, b) => isRun(b) - isRun(a) || Number(b.isOwn) - Number(a.isOwn) || b.words - a.words)[0]?.text;
}

/** Whether a text is specific to one request: a number, an id, or supplied text. */
function isVariable(text: string, supplied: readonly string[]): boolean {
  return /\d/.test(text) || supplied.some((one) => text.includes(one) || (text.length > 3 && one.includes(text)));
}

/** Limits of a pattern: its gaps, and its length. */
const MAX_GAPS = 8;
const MAX_PATTERN = 300;
const GAP = "\\S{1,64}";

/** A pattern for a whole sentence if one text contains the other: differing and request-specific words become gaps. */
function sentencePattern(
  [first = "", ...rest]: readonly string[],
  supplied: readonly string[],
): DenialMessage | undefined {
  for (const sentence of textsOf(first).slice(1)) {
    const tokens = sentence.trim().split(/\s+/);
    if (tokens.length < 2) continue;
    const alike = rest.map((body) =>
      textsOf(body)
        .map((text) => text.trim().split(/\s+/))
        .find((other) => other.length === tokens.length && other.some((token, at) => token === tokens[at])),
    );
    if (alike.some((other) => other === undefined)) continue;
    const parts = tokens.map((token, at) => {
      const isFixed =
        /^\p{L}+(?:['\u2019-]\p{L}+)*[.,:;!]?$/u.test(token) &&
        !isVariable(token, supplied) &&
        alike.every((other) => other?.[at] === token);
      return isFixed ? token.replace(/[.\\*+?^${}()|[\]]/g, "\\$&") : GAP;
    });
    const pattern = `^${parts.join("\\s+")}$`;
    const gaps = parts.filter((part) => part === GAP).length;
    if (gaps <= MAX_GAPS && pattern.length <= MAX_PATTERN && messageProblem({ pattern }) === undefined)
      return { pattern };
  }
  return undefined;
}
