import type { RequirementId } from "../../requirements/index.ts";
import type { Instance } from "../declare/check.ts";
import type { Response } from "../response/response.ts";

const DAY_MS = 86_400_000;
/** Clocks of a gateway and of this machine may differ by this much, ms. */
const SKEW_MS = 120_000;
const STATES: readonly string[] = ["key.capped", "key.cappable"];
const CASES: readonly string[] = ["capped", "cappable"];
const QUOTA: RequirementId = "ERR-402-QUOTA";

/** Whether a check needs a key that is at its daily cap, or that it brings there. */
export function reliesOnDailyCap({ check, axes }: Pick<Instance, "check" | "axes">): boolean {
  const needs = check.kind === "sending" ? (check.needs ?? []) : [];
  return (
    needs.some((need) => STATES.includes(need)) ||
    Object.values(axes).some((value) => value !== undefined && CASES.includes(value)) ||
    (check.covers as readonly string[]).includes(QUOTA)
  );
}

/** Whether a UTC day may have begun on the gateway between the start of a run and one of these responses: daily caps start again. */
export function newDayIn(responses: readonly Response[], startedAtMs: number): boolean {
  const latestMs = Math.max(startedAtMs, ...responses.map(({ arrivedAtMs }) => arrivedAtMs));
  return Math.floor((latestMs + SKEW_MS) / DAY_MS) > Math.floor((startedAtMs - SKEW_MS) / DAY_MS);
}

export const NEW_DAY =
  "a UTC day began during this run, and daily caps start again then. Repeat the run, not around 00:00 UTC";
