import { isLimitReason } from "../dialects/index.ts";
import type { Overhead, OverheadLevel } from "../record/index.ts";
import { textOf } from "./measure-overhead.ts";

interface Conclusion {
  readonly result: "pass" | "fail" | "inconclusive";
  readonly reasons: readonly string[];
}

/**
 * The verdict of a measurement without a policy. It passes if every level of every gateway was measured on a machine that was
 * quiet enough, with requests that were served; it fails if a gateway failed requests that its upstream serves.
 */
export function conclude({ arms, control }: Pick<Overhead, "arms" | "control">): Conclusion {
  const upstream = control.levels.flatMap((level) => errorsText("the upstream itself", level));
  const failed = arms.flatMap(({ name, levels }) =>
    levels.filter(isFailing).flatMap((level) => errorsText(name, level)),
  );
  const open = arms.flatMap(({ name, levels }) => [
    ...(levels.length === 0 ? [`${name}: nothing was measured`] : []),
    ...levels.filter((level) => !isFailing(level)).flatMap((level) => openOf(name, level)),
  ]);
  const reasons = [...upstream, ...failed, ...(control.fit ? [] : [control.message]), ...open];
  const isFailed = failed.length > 0 && upstream.length === 0;
  return { result: isFailed ? "fail" : reasons.length > 0 ? "inconclusive" : "pass", reasons };
}

/** Whether requests were not served although the gateway did not deny them. */
function isFailing({ errorKinds }: OverheadLevel): boolean {
  return errorKinds.some(({ outcome }) => outcome !== "denied");
}

function errorsText(name: string, level: OverheadLevel): string[] {
  const { requests, errors, errorKinds } = level;
  if (errors === 0) return [];
  const kinds = errorKinds.slice(0, 3).map(({ what, count }) => `${count} ${what}`);
  // A key with higher limits avoids these denials.
  const isLimited = errorKinds.some(({ what }) => isLimitReason(what) || what === "429");
  const next = isLimited ? "; a key with higher limits is needed" : "";
  return [`${name}, ${textOf(level)}: ${errors} of ${requests} requests were not served (${kinds.join(", ")})${next}`];
}

function openOf(name: string, level: OverheadLevel): string[] {
  if (level.errors > 0) return errorsText(name, level);
  return level.addedMs.p50.value === null ? [`${name}, ${textOf(level)}: too few requests were served`] : [];
}
