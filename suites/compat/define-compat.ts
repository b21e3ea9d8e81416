import { type Check, type CheckSpec, defineCheck, type Need, type Recordable } from "../../src/checks/index.ts";
import { that } from "../../src/judging/index.ts";

/** A compat check applies only where the target wants the dialect's real clients to be able to use it. */
export function defineCompat<P extends Recordable>(dialect: "chat" | "messages", spec: CheckSpec<P>): Check {
  const needs: readonly Need[] = [`compat.${dialect}`, ...(spec.needs ?? [])];
  return defineCheck({ ...spec, dialect, needs });
}

/** Media types by which the SDKs know JSON: those whose structured syntax suffix says so as well (RFC 6839, 3.1). */
export const aJsonType = that("application/json or another type of JSON", (type) =>
  /^application\/(?:[^\s/+]+\+)?json$/.test(String(type)),
);
