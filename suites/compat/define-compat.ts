import {
  type Check,
  type CheckSpec,
  defineCheck,
  type Need,
  type Recordable,
  type Response,
} from "../../src/checks/index.ts";
import { atPointer } from "../../src/core/index.ts";
import { that, type Verdict } from "../../src/judging/index.ts";
import type { CompatRequirement } from "../../src/requirements/index.ts";

/** A compat check only applies if the target should be usable by the dialect's real clients. */
export function defineCompat<P extends Recordable>(dialect: "chat" | "messages", spec: CheckSpec<P>): Check {
  const needs: readonly Need[] = [`compat.${dialect}`, ...(spec.needs ?? [])];
  return defineCheck({ ...spec, dialect, needs });
}

/** Judges members of a body, or of one event of a stream, each by its JSON pointer. */
export function memberJudge(response: Response, verdict: Verdict, json = response.json) {
  return (requirement: CompatRequirement, pointer: string, expected: unknown): boolean =>
    verdict.compat(requirement, atPointer(json, pointer), expected, { in: response, at: pointer });
}

/** Judges that the ids of several replies or streams (`of` names which) differ. */
export function judgeIds(ids: readonly unknown[], second: Response | undefined, verdict: Verdict, of: string): void {
  verdict.compat("COMPAT-REPLY-ID", new Set(ids).size, ids.length, { in: second, because: `ids of different ${of}` });
}

export const anEmptyArray = that("an empty array", (value) => Array.isArray(value) && value.length === 0);

/** Media types that the SDKs accept as JSON, including those with the structured syntax suffix (RFC 6839, 3.1). */
export const aJsonType = that("application/json or another type of JSON", (type) =>
  /^application\/(?:[^\s/+]+\+)?json$/.test(String(type)),
);
