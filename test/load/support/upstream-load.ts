import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { RequestBudget } from "../../../src/budget/index.ts";
import { nowUs } from "../../../src/http/load-client/load-exchange.ts";
import { Redactor } from "../../../src/http/recorder/index.ts";
import { loadWorkload, runWorkload, type Workload } from "../../../src/load/index.ts";
import type { ShardPart } from "../../../src/load/send/run-workload.ts";
import { parseShardFile, type ShardFile, writeShardFile } from "../../../src/load/shards/shard-file.ts";
import type { StoredShare } from "../../../src/load/shards/stored-share.ts";
import { parseTarget } from "../../../src/target/index.ts";
import type { UpstreamRequest } from "../../../src/upstream/index.ts";
import { temporaryFolder } from "../../support/gauntlet.ts";
import { upstreamOf } from "../../upstream/support.ts";

const KEY = "sk-traffic-0123456789abcdef";

export interface SentBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly system?: string;
  readonly tools?: readonly unknown[];
}

interface SentToOptions {
  /** Files next to the workload, by name. */
  readonly files?: Record<string, string>;
  /** What the server responds. */
  readonly scenario?: object;
  readonly seed?: number;
  /** Stops sending, like an interruption, once the server has recorded this many requests. */
  /** Sends this part of it, and returns what a shard hands over. */
  readonly part?: { readonly index: number; readonly of: number };
  readonly stopWhen?: (requests: readonly UpstreamRequest[]) => boolean;
}

/** Sends a workload file to a server that records every request, and returns the recording. */
export async function sentTo(
  workload: object,
  { files = {}, scenario = {}, seed = 5, stopWhen, part }: SentToOptions = {},
) {
  await using upstream = await upstreamOf(scenario);
  using folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  const path = join(folder.path, "w.yaml");
  writeFileSync(path, JSON.stringify({ name: "w", ...workload }));
  const target = parseTarget(
    JSON.stringify({ baseUrl: upstream.base, keys: { valid: "env:K" }, models: { chat: "m", messages: "m" } }),
    "t.yaml",
    { K: KEY },
  );
  const never = new AbortController().signal;
  const stop = new AbortController();
  const looking = setInterval(async () => {
    if (stopWhen?.(await upstream.requests()) === true) stop.abort();
  }, 20);
  const resolved = loadWorkload(path);
  let handedOver: StoredShare | undefined;
  const shard: ShardPart | undefined = part && {
    ...{ ...part, startUs: nowUs() + 100_000, problems: [] },
    onShare: (share) => {
      handedOver = share;
    },
  };
  const { run } = await runWorkload(resolved, {
    shard,
    target,
    budget: new RequestBudget(target.budget),
    keys: [target.keys.valid],
    seed,
    stop: stop.signal,
    abort: never,
    redactor: new Redactor([{ name: "key.valid", value: KEY }]),
    onSample: () => undefined,
    calibration: null,
  });
  clearInterval(looking);
  const requests = (await upstream.requests()).toSorted((a, b) => a.receivedMs - b.receivedMs);
  return {
    run,
    /** As read from the file in which it is handed over. */
    shardFile: handedOver && throughFile(resolved, handedOver),
    phase: run.phases[0],
    requests,
    /** In the order of their arrival. */
    get bodies() {
      return requests.map(({ body }) => JSON.parse(body) as SentBody);
    },
  };
}

function throughFile(
  { name, written, warmupS, retryAfter, allow, objectives, namesTokens }: Workload,
  share: StoredShare,
): ShardFile {
  const workload = { name, written, warmupS, retryAfter, allow, objectives, namesTokens };
  const read = parseShardFile(JSON.parse(writeShardFile({ workload, keys: ["key.valid"], lateMs: 0, cut: "", share })));
  if (typeof read === "string") throw new Error(read);
  return read;
}

/** Text of the last turn. */
export function promptIn({ messages }: SentBody): string {
  const content = messages.at(-1)?.content;
  if (typeof content === "string") return content;
  const parts = (Array.isArray(content) ? content : []) as { readonly type: string; readonly text?: string }[];
  return parts.find(({ type }) => type === "text")?.text ?? "";
}
