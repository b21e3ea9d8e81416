import { formatCount, formatNumber } from "../../core/index.ts";
import type { Instance } from "../declare/check.ts";
import type { Traffic } from "../traffic/traffic.ts";

const USED_UP = {
  "key.cappable": "its daily cap was used up; it resets at the end of the day (UTC)",
  "key.childSmall": "its lifetime budget was used up; another run needs a new key",
} as const;

/**
 * What a run used up or created and cannot restore, in sentences. The embedded gateway ends with its run, so it has no
 * leftovers.
 *
 * @param probed instances whose probes were carried out.
 */
export async function leftoversOf(traffic: Traffic, probed: readonly Instance[]): Promise<string[]> {
  const { target, fixtures } = traffic;
  if (target.source === "embedded") return [];
  const left: string[] = [];
  for (const need of ["key.cappable", "key.childSmall"] as const) {
    const used = probed.some(({ check }) => check.kind === "sending" && check.needs?.includes(need));
    if (used && !fixtures.made.includes(need)) left.push(`${need}: ${USED_UP[need]}`);
  }
  const { made, provisioner } = fixtures;
  if (made.length > 0 && (await provisioner?.release?.()) !== true) {
    const counts = new Map<string, number>();
    for (const state of made) counts.set(state, (counts.get(state) ?? 0) + 1);
    const states = [...counts].sort().map(([state, count]) => (count === 1 ? state : `${count} × ${state}`));
    left.push(`keys that the provisioning hook created and did not revoke: ${states.join(", ")}`);
  }
  const { charged, requests } = traffic.sent;
  if (charged > 0) left.push(`${formatNumber(charged)} of ${formatCount(requests, "request")} may have been billed`);
  return left;
}
