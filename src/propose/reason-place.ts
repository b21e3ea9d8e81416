import { groupBy, isObject } from "../core/index.ts";
import type { DenialSample } from "./denial-sample.ts";

/** Where a gateway puts the reason of a denial. */
export type ReasonPlace =
  | { readonly kind: "header"; readonly name: string }
  | { readonly kind: "pointer"; readonly pointer: string };

/** A machine-readable reason; anything else is a sentence, for `contract.denials.*.message`. */
const WORD = /^[A-Za-z][\w.:-]{1,63}$/;
/** Part of an id that is unique to one response. */
const ID = /[0-9a-f]{8}-|\d{6}|[0-9a-f]{16}/i;
/** Headers with another meaning, whatever their values look like. */
const NO_REASON =
  /^(access-control-|alt-svc|cache-control|cf-|connection|content-|date|etag|expires|keep-alive|pragma|referrer|server|set-cookie|strict-|transfer-|vary|via|www-authenticate|x-(amzn|cache|content|download|envoy|frame|permitted|powered|process|ratelimit|request|xss))/i;
/** Preference among equally informative places. */
const COMMON_PLACES = ["/error/code", "/error/type", "/code", "/type", "/error/reason", "/reason", "/error", "/detail"];

/** The value at a place; `undefined` if there is none that could be a reason. */
export function wordAt({ response }: DenialSample, place: ReasonPlace): string | undefined {
  if (place.kind === "header") return response.header(place.name);
  return stringsIn(response.json).find(([pointer]) => pointer === place.pointer)?.[1];
}

/**
 * The place that distinguishes the denials of a gateway: a header or a member of the error body.
 *
 * @param usual header that the target file already reads. It is kept if it has the specified values: a single denial without it
 * is a defect, not another contract.
 * @returns `undefined` when no place distinguishes anything.
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
  const names = samples.flatMap(({ response }) => response.headers.map(([name]) => name.toLowerCase()));
  return [...new Set(names)].filter((name) => !NO_REASON.test(name)).map((name) => ({ kind: "header", name }));
}

function pointersOf(samples: readonly DenialSample[]): ReasonPlace[] {
  const pointers = samples.flatMap(({ response }) => stringsIn(response.json).map(([pointer]) => pointer));
  return [...new Set(pointers)].map((pointer) => ({ kind: "pointer", pointer }));
}

/** Search depth: no gateway nests its reasons deeper. */
const DEPTH = 3;

function stringsIn(value: unknown, at = "", depth = 0): [pointer: string, text: string][] {
  if (typeof value === "string") return [[at, value]];
  if (!isObject(value) || depth >= DEPTH) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    stringsIn(inner, `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, depth + 1),
  );
}

/**
 * Highest first: words of the specification, number of kinds of denials distinguished, number read, number of samples, usual
 * places.
 *
 * @returns `undefined` for a place that does not hold the reason.
 */
function ratingOf(place: ReasonPlace, samples: readonly DenialSample[]): number[] | undefined {
  const said = samples.flatMap((sample) => {
    const word = wordAt(sample, place);
    return word === undefined ? [] : [{ ...sample, word }];
  });
  if (said.some(({ word, unknownModel }) => !WORD.test(word) || ID.test(word) || word === unknownModel))
    return undefined;
  if (!isAboutDenial(said)) return undefined;
  const denials = said.filter(({ reason }) => reason !== undefined);
  const byReason = [...groupBy(denials, ({ reason }) => String(reason))];
  const distinguished = byReason.filter(([reason, own]) =>
    own.every(({ word }) => said.every((other) => String(other.reason) === reason || other.word !== word)),
  ).length;
  const exact = denials.filter(({ reason, word }) => reason === word).length;
  const order = place.kind === "header" ? COMMON_PLACES.length + 1 : COMMON_PLACES.length - commonIndex(place.pointer);
  return [exact, distinguished, byReason.length, denials.length, order];
}

/**
 * Whether words depend on the denial and not on the caller: the same word for one denial with any key, and different words for
 * the same key, or one without a key. A place that names the key or its owner fails both.
 */
function isAboutDenial(said: readonly (DenialSample & { readonly word: string })[]): boolean {
  const alike = groupBy(said, ({ reason, kind, response }) => `${reason} ${kind} ${response.requested.endpoint}`);
  if ([...alike.values()].some((own) => new Set(own.map(({ word }) => word)).size > 1)) return false;
  if (new Set(said.map(({ word }) => word)).size < 2) return false;
  const byKey = [...groupBy(said, ({ key = "" }) => key).values()];
  return (
    said.some(({ key }) => key === undefined) || byKey.some((own) => new Set(own.map(({ word }) => word)).size > 1)
  );
}

function commonIndex(pointer: string): number {
  const at = COMMON_PLACES.indexOf(pointer);
  return at < 0 ? COMMON_PLACES.length : at;
}

function compared(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}
