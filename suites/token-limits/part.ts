import type { Response } from "../../src/checks/index.ts";
import { possiblySpentAt, surelySpent, type TokenSpend } from "../../src/limits/index.ts";
import type { TokenLimits } from "../../src/target/index.ts";
import { isRateDenial, isServed } from "../limits/denials.ts";
import { type Size, spendOf } from "./size.ts";

/** The limit as declared in the target file; `null`: not stated. */
export type TokensAsDeclared = {
  readonly tokensPerMinute: number;
  readonly counts: TokenLimits["counts"];
  readonly window: "fixed" | "rolling" | null;
  readonly inFlightTokens: number | null;
  readonly remainingHeaders: readonly string[];
};

/** Requests of one size. */
export type Part = Size & {
  readonly responses: readonly Response[];
  /** From the first send to the end of the last response, seconds. */
  readonly seconds: number;
};

/** Counts per minute may be off by this share, because of clocks and token estimates. */
const TOLERANCE = 0.02;
/** Share of the limit that must have been used before a denial. */
const USED_SHARE = 0.8;

/** Tokens taken by those requests of a part that were served and state their usage. */
export function spendsOf({ responses, maxTokens }: Part, { counts }: TokensAsDeclared): TokenSpend[] {
  return responses.filter(isServed).flatMap((response) => spendOf(response, counts, maxTokens) ?? []);
}

/** Maximum number of tokens that one request of a part took. */
export function largestOf(part: Part, tokens: TokensAsDeclared): number {
  return Math.max(part.most, ...spendsOf(part, tokens).map(({ most }) => most));
}

/**
 * Maximum number of tokens that a correct limit admits in a part after a quiet period: the limit, what refills meanwhile, and
 * what requests in flight may exceed it by. The request that crosses the limit is included, because a limit that checks earlier
 * usage admits it.
 */
export function allowedTokens(part: Part, tokens: TokensAsDeclared): number {
  const { tokensPerMinute, inFlightTokens } = tokens;
  const beyond = Math.max(inFlightTokens ?? 0, largestOf(part, tokens));
  return Math.ceil(tokensPerMinute * (1 + TOLERANCE + part.seconds / 60) + beyond);
}

/** More than any window admits after a quiet period, except a fixed one whose boundary lies inside. */
export function exceedsTokens(part: Part, tokens: TokensAsDeclared): boolean {
  return surelySpent(spendsOf(part, tokens)) > allowedTokens(part, tokens);
}

/** Tokens that may have counted when the first request was denied, including its own; `undefined` if none was denied. */
export function usedAtDenial(part: Part | undefined, tokens: TokensAsDeclared): number | undefined {
  const denied = part?.responses.find(isRateDenial);
  if (part === undefined || denied === undefined) return undefined;
  const { sentUs, dueUs } = denied.exchange.timeline;
  return possiblySpentAt(spendsOf(part, tokens), sentUs ?? dueUs) + part.most;
}

/** Tokens that must have been used, at least possibly, before a denial. */
export const leastUsed = ({ tokensPerMinute }: TokensAsDeclared): number => Math.floor(tokensPerMinute * USED_SHARE);

/** Whether sequential requests after a quiet period were denied before the limit can have been used up. */
export function isEarly(part: Part | undefined, tokens: TokensAsDeclared): boolean {
  return (usedAtDenial(part, tokens) ?? Number.POSITIVE_INFINITY) < leastUsed(tokens);
}
