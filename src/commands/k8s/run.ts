import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { EXIT, isObject, type JsonObject, member, UsageError, VERSION } from "../../core/index.ts";
import { CONFIG_MAP_BYTES, type GeneratorCost, resourceName, sizeInstance } from "../../engines/index.ts";
import { Redactor } from "../../http/recorder/index.ts";
import { assertNoEvents, servedWorkload, type Workload } from "../../load/index.ts";
import { type OnProgress, type Outcome, permitFor, planOfLoads } from "../../run/control/index.ts";
import { assertShared, assertUrl, parseStart, sharedSeed } from "../../run/loads/index.ts";
import { findWorkload, openTarget } from "../../run/open/index.ts";
import { addressesOf, allKeys, isLoopback } from "../../target/index.ts";
import { type ShardManifests, shardManifests } from "./manifests.ts";
import { shardReadme } from "./readme.ts";

export interface K8sExportOptions {
  readonly what: string;
  readonly target?: string | undefined;
  readonly out: string;
  readonly shards: number;
  readonly jobset: boolean;
  readonly image?: string | undefined;
  readonly startAt?: string | undefined;
  readonly timeSource?: string | undefined;
  /** `s3://bucket/prefix`; a volume if absent. */
  readonly store?: string | undefined;
  readonly seed?: number | undefined;
}

/** Measured by `npm run verify shards`; docs/scale.md has the spread. */
const NATIVE_COST: GeneratorCost = {
  cpuPerRequestS: 0.0004,
  cpuPerHeldS: 0.0003,
  bytesPerHeld: 45_000,
  baseBytes: 100_000_000,
};

/** Writes a folder with which Kubernetes runs the shards of a load, without any key in it. */
export async function exportK8s(options: K8sExportOptions, onProgress: OnProgress): Promise<Outcome> {
  const { out, shards, store, timeSource } = options;
  const startAtS = options.startAt === undefined ? undefined : Math.ceil(parseStart(options.startAt) / 1_000);
  if (timeSource !== undefined) assertUrl(timeSource);
  if (store !== undefined && !/^s3:\/\/[^/\s'"]+/.test(store))
    throw new UsageError(`--store takes s3://BUCKET/PREFIX, not "${store}"`);
  const named = findWorkload(options.what);
  assertShared([named], shards);
  await using opened = await openTarget(
    { target: options.target, json: true },
    { signal: new AbortController().signal, onProgress },
  );
  const { target } = opened;
  if (target.source === "embedded")
    throw new UsageError("pods cannot reach the embedded gateway", { hint: "Name a target file with --target." });
  const workload = servedWorkload(named, target);
  assertNoEvents(workload, "pods send shares of the load");
  const { plan: cost } = permitFor(target, planOfLoads(target, [workload], "thorough"), "load");
  const { inFlight = 1 } = cost;
  // A closed loop has no rate: replies of one second are assumed.
  const size = sizeInstance(cost.peakPerS ?? inFlight, inFlight, shards, NATIVE_COST);
  if (size.cores > 1)
    onProgress({
      kind: "notice",
      text: `each of ${shards} shards needs ${size.cores.toFixed(1)} cores, and a shard uses one: take --shards ${Math.ceil(shards * size.cores)}`,
    });
  const own = addressesOf(target).find(isLoopback);
  if (own !== undefined) {
    const field = target.addresses === undefined ? "baseUrl" : "addresses";
    onProgress({ kind: "notice", text: `${own} refers to the pod itself: change ${field} in configmap.yaml` });
  }
  const { file, secrets } = targetForPods(target.configuration);
  const files = { "target.yaml": stringify(file), ...workloadFiles(named) };
  const bytes = Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > CONFIG_MAP_BYTES)
    throw new UsageError(`the workload with its trace has ${bytes} bytes, and a ConfigMap holds ${CONFIG_MAP_BYTES}`, {
      hint: "Use a shorter trace.",
    });
  const manifests: ShardManifests = {
    ...{ name: resourceName(workload.name), shards, files, secrets, timeSource, startAtS, store },
    image: options.image ?? `gateway-gauntlet:${VERSION}`,
    seed: options.seed ?? sharedSeed(workload),
    jobSet: options.jobset,
    cpuMillis: Math.max(100, Math.ceil(size.cores * 10) * 100),
    memoryMiB: Math.ceil(size.memoryBytes / 1_048_576),
  };
  const written = {
    ...shardManifests(manifests),
    "README.md": shardReadme(manifests, addressesOf(target).join(" and ")),
  };
  // The folder is meant to be shared, so it must not contain a key wherever the target file has one.
  const redactor = new Redactor(allKeys(target).map((key) => key.secret()));
  mkdirSync(out, { recursive: true });
  for (const [path, text] of Object.entries(written)) writeFileSync(join(out, path), redactor.redact(text).text);
  return {
    exitCode: EXIT.pass,
    document: { exitCode: EXIT.pass, folder: out, files: Object.keys(written) },
    text: () => `${out}: manifests for ${shards} shards of ${workload.name}; README.md says how to apply them\n`,
  };
}

/** The workload as written, and the trace file that it names. */
function workloadFiles({ written, arrivals }: Workload): Record<string, string> {
  if (arrivals?.kind !== "replay" || !isObject(written)) return { "workload.yaml": stringify(written) };
  const trace = "trace.ndjson";
  const replay = { ...(written["arrivals"] as JsonObject), file: trace };
  return {
    "workload.yaml": stringify({ ...written, arrivals: replay }),
    [trace]: arrivals.entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""),
  };
}

/** The fields of a target file that plain load needs, except keys. */
const FIELDS = [
  ...[
    "name",
    "baseUrl",
    "addresses",
    "addressChoice",
    "dialects",
    "headers",
    "contract",
    "models",
    "budget",
    "circuit",
    "prices",
    "authorized",
  ],
  ...["http", "timeouts"],
];

/**
 * A target file for pods: the part that plain load needs. Keys and headers that are references stay references to variables,
 * which come from a Secret; a reference to a file on this machine becomes such a variable as well.
 */
function targetForPods(configuration: unknown): { readonly file: object; readonly secrets: readonly string[] } {
  const secrets: string[] = [];
  const refer = (reference: unknown, variable: string): unknown => {
    if (typeof reference !== "string" || !/^(?:env|file):/.test(reference)) return reference;
    const name = reference.startsWith("env:") ? reference.slice("env:".length) : variable;
    if (!secrets.includes(name)) secrets.push(name);
    return `env:${name}`;
  };
  const valid = refer(member(member(configuration, "keys"), "valid"), "GAUNTLET_KEY");
  const extra = member(configuration, "extraHeaders");
  let headers = 0;
  const extraHeaders =
    isObject(extra) &&
    Object.fromEntries(
      Object.entries(extra).map(([where, map]) => [
        where,
        Object.fromEntries(
          Object.entries(isObject(map) ? map : {}).map(([name, value]) => [
            name,
            refer(value, `GAUNTLET_HEADER_${++headers}`),
          ]),
        ),
      ]),
    );
  const kept = FIELDS.map((name) => [name, member(configuration, name)]).filter(([, value]) => value !== undefined);
  return { file: { ...Object.fromEntries(kept), keys: { valid }, ...(extraHeaders && { extraHeaders }) }, secrets };
}
