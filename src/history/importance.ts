import type { Trend } from "./trends.ts";

/** What most readers look for first, in this order. */
const MAIN: readonly RegExp[] = [
  /^checks\{status=fail\}/,
  /^ttft_ms\b.* p50$/,
  /^response_ms\b.* p50$/,
  /^admitted_per_s\b/,
  /^ttft_ms\b.* p99$/,
  /^response_ms\b.* p99$/,
  /^failed_share\b/,
  /./,
];

export function mostImportantFirst(trends: readonly Trend[]): Trend[] {
  const rank = ({ name }: Trend) => MAIN.findIndex((pattern) => pattern.test(name));
  return [...trends].sort((a, b) => rank(a) - rank(b));
}

const ORDER: readonly Trend["verdict"][] = ["regressed", "improved", "inconclusive", "not worse"];

/** For tables: what changed, and then by importance. */
export function changedFirst(trends: readonly Trend[]): Trend[] {
  return mostImportantFirst(trends).sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
}
