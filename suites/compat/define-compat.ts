import { type Check, type CheckSpec, defineCheck, type Need, type Recordable } from "../../src/conformance/index.ts";

/** A compat check applies only where the target wants the dialect's real clients to be able to use it. */
export function defineCompat<P extends Recordable>(dialect: "chat" | "messages", spec: CheckSpec<P>): Check {
  const needs: readonly Need[] = [`compat.${dialect}`, ...(spec.needs ?? [])];
  return defineCheck({ ...spec, needs });
}
