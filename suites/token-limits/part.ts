import type { Response } from "../../src/checks/index.ts";
import { possiblySpentAt, surelySpent, type TokenSpend } from "../../src/limits/index.ts";
import type { TokenLimits } from "../../src/target/index.ts";
import { isRateDenial, isServed } from "../limits/limit-denials.ts";
import { type Size, spendOf } from "./size.ts";

/** The limit as the target file declares it; `null`: it does not say. */
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
  /** From the first sending to the last answer, seconds. */
  readonly seconds: number;
};

/** Counting by the minute may be off by this share: clocks, and estimates of a token here and there. */
const TOLERANCE = 0.02;
/** Share of the limit that must have been used before a denial. */
const USED_SHARE = 0.8;

/** What those of a part took that were served and tell their usage. */
export function spendsOf({ responses, maxTokens }: Part, { counts }: TokensAsDeclared): TokenSpend[] {
  return responses.filter(isServed).flatMap((response) => spendOf(response, counts, maxTokens) ?? []);
}

/** Most tokens that one request of a part took. */
export function largestOf(part: Part, tokens: TokensAsDeclared): number {
  return Math.max(part.most, ...spendsOf(part, tokens).map(({ most }) => most));
}

/**
 * Most tokens that a sound limit lets a part take from quiet: the limit, what comes back meanwhile, and what requests in flight may take
 * beyond it; the request that crosses it at least, which a limit that looks at what was used before lets pass.
 */
export function allowedTokens(part: Part, tokens: TokensAsDeclared): number {
  const { tokensPerMinute, inFlightTokens } = tokens;
  const beyond = Math.max(inFlightTokens ?? 0, largestOf(part, tokens));
  return Math.ceil(tokensPerMinute * (1 + TOLERANCE + part.seconds / 60) + beyond);
}

/** More than any window lets through from quiet, save a fixed one whose edge lies inside. */
export function exceedsTokens(part: Part, tokens: TokensAsDeclared): boolean {
  return surelySpent(spendsOf(part, tokens)) > allowedTokens(part, tokens);
}

/** Tokens that possibly counted when the first request was denied, its own included; `undefined` where none was denied. */
export function usedAtDenial(part: Part | undefined, tokens: TokensAsDeclared): number | undefined {
  const denied = part?.responses.find(isRateDenial);
  if (part === undefined || denied === undefined) return undefined;
  const { sentUs, dueUs } = denied.exchange.timeline;
  return possiblySpentAt(spendsOf(part, tokens), sentUs ?? dueUs) + part.most;
}

/** Tokens that must have been used, possibly, before a denial. */
export const leastUsed = ({ tokensPerMinute }: TokensAsDeclared): number => Math.floor(tokensPerMinute * USED_SHARE);

/** Whether requests in a row from quiet were denied before the limit can have been used up. */
export function isEarly(part: Part | undefined, tokens: TokensAsDeclared): boolean {
  return (usedAtDenial(part, tokens) ?? Number.POSITIVE_INFINITY) < leastUsed(tokens);
}
