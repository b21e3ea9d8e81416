import { isObject } from "../../core/index.ts";
import type { DenialSample } from "./denial-sample.ts";

/** Where a gateway says the reason of a denial. */
export type ReasonPlace =
  | { readonly kind: "header"; readonly name: string }
  | { readonly kind: "pointer"; readonly pointer: string };

/** A reason as programs say it; anything else is a sentence. */
const WORD = /^[A-Za-z][\w.:-]{1,63}$/;
/** Part of an id that was made for one answer. */
const ID = /[0-9a-f]{8}-|\d{6}|[0-9a-f]{16}/i;
const LONGEST_SENTENCE = 200;
/** Headers that say something else, whatever their values look like. */
const NO_REASON =
  /^(access-control-|alt-svc|cache-control|cf-|connection|content-|date|etag|expires|keep-alive|pragma|referrer|server|set-cookie|strict-|transfer-|vary|via|www-authenticate|x-(amzn|cache|content|download|envoy|frame|permitted|powered|process|ratelimit|request|xss))/i;
/** Of places that tell as much, the usual ones first. */
const USUAL = ["/error/code", "/error/type", "/code", "/type", "/error/reason", "/reason", "/error", "/detail"];

/** The value of a place, as this gateway says it; `undefined` where there is none that could be a reason. */
export function wordAt({ answer }: DenialSample, place: ReasonPlace): string | undefined {
  if (place.kind === "header") return answer.header(place.name);
  return stringsIn(answer.json).find(([pointer]) => pointer === place.pointer)?.[1];
}

/**
 * The place that tells the denials of a gateway apart: a header or a member of the error body.
 *
 * @param usual header that the target file already reads. It stays where it says what the specification says: one denial
 *   without it is a defect and no other way to say things.
 * @returns `undefined` where no place tells anything.
 */
export function reasonPlace(samples: readonly DenialSample[], usual: string): ReasonPlace | undefined {
  const denials = samples.filter(({ reason }) => reason !== undefined);
  if (denials.length === 0) return undefined;
  const own: ReasonPlace = { kind: "header", name: usual };
  const right = denials.filter((sample) => wordAt(sample, own) === sample.reason).length;
  if (right * 2 >= denials.length) return own;
  const places = [...headersOf(denials), ...pointersOf(denials)];
  const rated = places
    .map((place) => ({ place, rating: ratingOf(place, samples) }))
    .filter(({ rating }) => rating !== undefined);
  rated.sort((a, b) => compared(b.rating ?? [], a.rating ?? []));
  return rated[0]?.place;
}

function headersOf(samples: readonly DenialSample[]): ReasonPlace[] {
  const names = samples.flatMap(({ answer }) => answer.headers.map(([name]) => name.toLowerCase()));
  return [...new Set(names)].filter((name) => !NO_REASON.test(name)).map((name) => ({ kind: "header", name }));
}

function pointersOf(samples: readonly DenialSample[]): ReasonPlace[] {
  const pointers = samples.flatMap(({ answer }) => stringsIn(answer.json).map(([pointer]) => pointer));
  return [...new Set(pointers)].map((pointer) => ({ kind: "pointer", pointer }));
}

/** Depth that is looked at: no gateway nests its reasons deeper. */
const DEPTH = 3;

function stringsIn(value: unknown, at = "", depth = 0): [pointer: string, text: string][] {
  if (typeof value === "string") return [[at, value]];
  if (!isObject(value) || depth >= DEPTH) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    stringsIn(inner, `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, depth + 1),
  );
}

/**
 * Best first: words of the specification, other words before sentences, how many kinds of denials have one, how many it tells apart,
 * usual places.
 */
function ratingOf(place: ReasonPlace, samples: readonly DenialSample[]): number[] | undefined {
  const said = samples.flatMap((sample) => {
    const word = wordAt(sample, place);
    return word === undefined ? [] : [{ sample, word }];
  });
  const denials = said.filter(({ sample }) => sample.reason !== undefined);
  if (denials.length === 0) return undefined;
  const isWord = denials.every(({ word }) => WORD.test(word));
  const byReason = [...new Set(denials.map(({ sample }) => sample.reason))].map((reason) => ({
    reason,
    words: denials.filter(({ sample }) => sample.reason === reason).map(({ word }) => word),
  }));
  // What is another text each time is an id of the answer.
  if (byReason.some(({ words }) => words.length > 2 && new Set(words).size === words.length)) return undefined;
  if (denials.some(({ word }) => ID.test(word))) return undefined;
  if (!isWord) {
    const isStable = byReason.every(({ words }) => new Set(words).size === 1);
    const isOwn = denials.every(
      ({ sample, word }) =>
        word.length <= LONGEST_SENTENCE && (sample.repeats === undefined || !word.includes(sample.repeats)),
    );
    if (place.kind === "header" || !isStable || !isOwn) return undefined;
  }
  const toldApart = byReason.filter(({ reason, words }) => {
    const others = new Set(said.filter(({ sample }) => sample.reason !== reason).map(({ word }) => word));
    return words.every((word) => !others.has(word));
  }).length;
  const exact = denials.filter(({ sample, word }) => sample.reason === word).length;
  const order = place.kind === "header" ? USUAL.length + 1 : USUAL.length - usualAt(place.pointer);
  // A word that is the same for everything tells nothing; texts of the bodies tell apart what shares a word.
  const classes = new Set(denials.map(({ word }) => word)).size;
  const tells = isWord && (classes > 1 || byReason.length === 1);
  return [exact, Number(tells), byReason.length, toldApart, classes > 1 ? denials.length : 0, order];
}

function usualAt(pointer: string): number {
  const at = USUAL.indexOf(pointer);
  return at < 0 ? USUAL.length : at;
}

function compared(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}
