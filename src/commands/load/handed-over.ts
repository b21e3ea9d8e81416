import type { Redactor } from "../../http/recorder/index.ts";
import { type ShardFile, type ShardPart, type Workload, writeShardFile } from "../../load/index.ts";
import type { OpenShard } from "../../run/loads/index.ts";
import type { Target } from "../../target/index.ts";

interface Ended {
  readonly target: Target;
  readonly redactor: Redactor;
  /** Why it ended before its share was sent, if it did. */
  readonly cut: string | undefined;
}

/** Collects the counts of a finished shard, and makes the file that is merged with those of the other shards. */
export class HandedOver {
  readonly part: ShardPart;
  readonly #name: string;
  #counted: Pick<ShardFile, "share" | "lateMs"> | undefined;

  constructor({ head, startUs, problems }: OpenShard) {
    this.#name = `shard ${head.index}/${head.of}`;
    this.part = {
      index: head.index - 1,
      of: head.of,
      startUs,
      problems,
      onShare: (share, lateMs) => {
        this.#counted = { share, lateMs };
      },
    };
  }

  close(
    workload: Workload,
    { target, redactor, cut }: Ended,
  ): { readonly name: string; readonly file: string } | undefined {
    if (this.#counted === undefined) return undefined;
    const { name, written, warmupS, retryAfter, allow, objectives, namesTokens } = workload;
    const { tally, ...share } = this.#counted.share;
    const file = {
      workload: { name, written, warmupS, retryAfter, allow, objectives, namesTokens },
      keys: [target.keys.valid.name],
      lateMs: this.#counted.lateMs,
      cut: cut === undefined ? "" : `was ended by ${cut}`,
      share,
    };
    // Not the histograms: they hold no text, and masking would corrupt their encoding.
    const clean = redactor.redactValue(file);
    return { name: this.#name, file: writeShardFile({ ...clean, share: { ...clean.share, tally } }) };
  }
}
