import type { Instance } from "../declare/check.ts";
import type { Need } from "../declare/need.ts";
import type { Response } from "../response/response.ts";

const DAY_MS = 86_400_000;
/** Clocks of a gateway and of this machine may differ by this much, ms. */
const SKEW_MS = 120_000;
/** Keys at their daily cap, and those that a check uses up. */
const KEYS: readonly string[] = ["capped", "cappable"];

/** Whether an instance uses a key with a daily cap, by its needs or by its case. */
export function reliesOnDailyCap({ check, axes }: Pick<Instance, "check" | "axes">): boolean {
  const needs = check.kind === "sending" ? (check.needs ?? []) : [];
  return KEYS.some((key) => needs.includes(`key.${key}` as Need) || Object.values(axes).includes(key));
}

/** Whether a UTC day may have begun on the gateway between the start of a run and one of these responses, which resets daily caps. */
export function newDayIn(responses: readonly Response[], startedAtMs: number): boolean {
  const latestMs = Math.max(startedAtMs, ...responses.map(({ arrivedAtMs }) => arrivedAtMs));
  return Math.floor((latestMs + SKEW_MS) / DAY_MS) > Math.floor((startedAtMs - SKEW_MS) / DAY_MS);
}

export const NEW_DAY =
  "daily caps reset at 00:00 UTC, which may have fallen within this run. Run it again at another time of day";
