import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redactor } from "../../../src/http-recorder/index.ts";
import { loadWorkload, runWorkload } from "../../../src/load/index.ts";
import { parseTarget } from "../../../src/target/index.ts";
import { temporaryFolder } from "../../support/gauntlet.ts";
import { upstreamOf } from "../../upstream/support.ts";

const KEY = "sk-traffic-0123456789abcdef";

export interface SentBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly unknown[];
}

/**
 * Sends a workload file to a server that notes every request, and gives what the server noted.
 *
 * @param files beside the workload, by name.
 * @param scenario what the server answers.
 */
export async function sentTo(
  workload: object,
  { files = {}, scenario = {}, seed = 5 }: { files?: Record<string, string>; scenario?: object; seed?: number } = {},
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
  const { run } = await runWorkload(loadWorkload(path), {
    target,
    keys: [target.keys.valid],
    seed,
    stop: never,
    abort: never,
    redactor: new Redactor([{ name: "key.valid", value: KEY }]),
    onSample: () => undefined,
    calibration: null,
  });
  const requests = (await upstream.requests()).toSorted((a, b) => a.receivedMs - b.receivedMs);
  return {
    run,
    phase: run.phases[0],
    requests,
    /** In the order of their arrival. */
    get bodies() {
      return requests.map(({ body }) => JSON.parse(body) as SentBody);
    },
  };
}

/** Text of the last turn. */
export function promptIn({ messages }: SentBody): string {
  const content = messages.at(-1)?.content;
  if (typeof content === "string") return content;
  const parts = (Array.isArray(content) ? content : []) as { readonly type: string; readonly text?: string }[];
  return parts.find(({ type }) => type === "text")?.text ?? "";
}
