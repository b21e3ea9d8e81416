import { wilson } from "../../core/index.ts";
import { TOOL_CALL_KINDS, type ToolCallCounts, type ToolCallKind } from "../../http/load-client/index.ts";
import { CountBlocks, type StoredCounts } from "../../metrics/index.ts";
import type { JudgedPhase } from "../../record/index.ts";

type ToolCalls = NonNullable<JudgedPhase["toolCalls"]>;

/** What a worker reports. */
export interface StoredToolCalls {
  readonly replies: number;
  readonly withCalls: number;
  readonly counts: ToolCallCounts;
  readonly blocks: StoredCounts<ToolCallKind>;
}

/** Counts the tool calls in admitted replies to requests with tools: valid, invalid JSON, unknown name, schema mismatch. */
export class ToolCallTally {
  #replies = 0;
  #withCalls = 0;
  readonly #counts: Record<keyof ToolCallCounts, number> = {
    ...{ valid: 0, invalidJson: 0, unknownName: 0, schemaMismatch: 0, cutOff: 0 },
  };
  readonly #blocks = new CountBlocks<ToolCallKind>();

  /** @param atUs from the start of the phase to the end of the reply. */
  add(counts: ToolCallCounts, atUs: number): void {
    this.#replies++;
    if (Object.values(counts).some((count) => count > 0)) this.#withCalls++;
    this.#counts.cutOff += counts.cutOff;
    for (const kind of TOOL_CALL_KINDS) {
      this.#counts[kind] += counts[kind];
      for (let call = 0; call < counts[kind]; call++) this.#blocks.count(kind, atUs);
    }
  }

  store(): StoredToolCalls | undefined {
    if (this.#replies === 0) return undefined;
    const { blocks, counts } = { blocks: this.#blocks.store(), counts: { ...this.#counts } };
    return { replies: this.#replies, withCalls: this.#withCalls, counts, blocks };
  }

  merge({ replies, withCalls, counts, blocks }: StoredToolCalls): void {
    this.#replies += replies;
    this.#withCalls += withCalls;
    for (const name of Object.keys(counts) as (keyof ToolCallCounts)[]) this.#counts[name] += counts[name];
    this.#blocks.merge(blocks);
  }

  /** @returns `undefined` if no admitted request had tools. */
  close(durationS: number): ToolCalls | undefined {
    if (this.#replies === 0) return undefined;
    const calls = TOOL_CALL_KINDS.reduce((sum, kind) => sum + this.#counts[kind], 0);
    return {
      ...{ replies: this.#replies, withCalls: this.#withCalls, calls, ...this.#counts },
      shares: calls === 0 ? null : byKind((kind) => this.#counts[kind] / calls),
      intervals: calls === 0 ? null : byKind((kind) => this.#interval(kind, calls, durationS)),
    };
  }

  /** 95 % interval of a kind's share; calls that fail together count as fewer. */
  #interval(kind: ToolCallKind, calls: number, durationS: number): [number, number] {
    const of = this.#blocks.effectiveCount(kind, TOOL_CALL_KINDS, durationS);
    const { low, high } = wilson({ count: (this.#counts[kind] / calls) * of, of }, 0.95);
    return [low, high];
  }
}

function byKind<Value>(value: (kind: ToolCallKind) => Value): Record<ToolCallKind, Value> {
  return Object.fromEntries(TOOL_CALL_KINDS.map((kind) => [kind, value(kind)])) as Record<ToolCallKind, Value>;
}
