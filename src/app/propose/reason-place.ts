import { groupBy, isObject } from "../../core/index.ts";
import type { DenialSample } from "./denial-sample.ts";

/** Where a gateway says the reason of a denial. */
export type ReasonPlace =
  | { readonly kind: "header"; readonly name: string }
  | { readonly kind: "pointer"; readonly pointer: string };

/** A reason as programs say it; anything else is a sentence, which `contract.denials.*.message` is for. */
const WORD = /^[A-Za-z][\w.:-]{1,63}$/;
/** Part of an id that was made for one answer. */
const ID = /[0-9a-f]{8}-|\d{6}|[0-9a-f]{16}/i;
/** Headers that say something else, whatever their values look like. */
const NO_REASON =
  /^(access-control-|alt-svc|cache-control|cf-|connection|content-|date|etag|expires|keep-alive|pragma|referrer|server|set-cookie|strict-|transfer-|vary|via|www-authenticate|x-(amzn|cache|content|download|envoy|frame|permitted|powered|process|ratelimit|request|xss))/i;
/** Of places that tell as much, the usual ones first. */
const USUAL = ["/error/code", "/error/type", "/code", "/type", "/error/reason", "/reason", "/error", "/detail"];

/** The value of a place, as this gateway says it; `undefined` where there is none that could be a reason. */
export function wordAt({ response }: DenialSample, place: ReasonPlace): string | undefined {
  if (place.kind === "header") return response.header(place.name);
  return stringsIn(response.json).find(([pointer]) => pointer === place.pointer)?.[1];
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
  const names = samples.flatMap(({ response }) => response.headers.map(([name]) => name.toLowerCase()));
  return [...new Set(names)].filter((name) => !NO_REASON.test(name)).map((name) => ({ kind: "header", name }));
}

function pointersOf(samples: readonly DenialSample[]): ReasonPlace[] {
  const pointers = samples.flatMap(({ response }) => stringsIn(response.json).map(([pointer]) => pointer));
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
 * Best first: words of the specification, how many kinds of denials it tells apart, how many it reads, of how many samples, usual places.
 *
 * @returns `undefined` for a place that says something else than the reason.
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
  const toldApart = byReason.filter(([reason, own]) =>
    own.every(({ word }) => said.every((other) => String(other.reason) === reason || other.word !== word)),
  ).length;
  const exact = denials.filter(({ reason, word }) => reason === word).length;
  const order = place.kind === "header" ? USUAL.length + 1 : USUAL.length - usualAt(place.pointer);
  return [exact, toldApart, byReason.length, denials.length, order];
}

/**
 * Whether words depend on the denial and not on who asked: the same for one denial whichever key it was sent with, and more than one for
 * one and the same key, or one where there was no key. A place that names the key or its owner does neither.
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

function usualAt(pointer: string): number {
  const at = USUAL.indexOf(pointer);
  return at < 0 ? USUAL.length : at;
}

function compared(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}
