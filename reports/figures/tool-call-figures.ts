import { formatCount, formatNumber } from "../../src/core/index.ts";
import type { LoadPhase } from "../../src/record/index.ts";

export type ToolCallFigures = NonNullable<LoadPhase["toolCalls"]>;

/** What a client finds when it reads a tool call, in words; in the order of the reports. */
export const TOOL_CALL_WORDS = [
  ["valid", "valid"],
  ["invalidJson", "invalid JSON"],
  ["unknownName", "unknown name"],
  ["schemaMismatch", "schema mismatch"],
] as const;

/** `412 in 400 of 402 replies: 410 valid 99.5 % (98.2 … 99.9 %), 2 invalid JSON 0.5 % (0.1 … 1.8 %), 0 unknown name, …`. */
export function toolCallsText(figures: ToolCallFigures): string {
  const { calls, withCalls, replies, cutOff } = figures;
  const kinds = TOOL_CALL_WORDS.map(([kind, word]) => {
    const share = figures[kind] === 0 ? "" : ` ${shareText(figures, kind)}`;
    return `${formatNumber(figures[kind])} ${word}${share}`;
  });
  const cut = cutOff === 0 ? [] : [`${formatNumber(cutOff)} cut off by the output limit`];
  const where = `${formatNumber(calls)} in ${formatNumber(withCalls)} of ${formatCount(replies, "reply", "replies")}`;
  return calls === 0 && cutOff === 0 ? where : `${where}: ${[...kinds, ...cut].join(", ")}`;
}

/** A kind's share of the calls with its interval; empty without calls. */
export function shareText({ shares, intervals }: ToolCallFigures, kind: (typeof TOOL_CALL_WORDS)[number][0]): string {
  if (shares === null) return "";
  const text = (share: number) => (share * 100).toFixed(1);
  const [low, high] = intervals?.[kind] ?? [];
  const interval = low === undefined || high === undefined ? "" : ` (${text(low)} … ${text(high)} %)`;
  return `${text(shares[kind])} %${interval}`;
}
