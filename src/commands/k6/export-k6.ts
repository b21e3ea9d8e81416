import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT, InternalError, UsageError } from "../../core/index.ts";
import { CONFIG_MAP_BYTES, findK6, K6_VERSION, k6Once, manifests, resourceName } from "../../engines/index.ts";
import { Redactor } from "../../http/recorder/index.ts";
import { assertNoEvents, servedWorkload } from "../../load/index.ts";
import type { OnProgress, Outcome } from "../../run/control/index.ts";
import { permitFor, planOfLoads } from "../../run/control/index.ts";
import { KEY_VARIABLES, planForK6, scriptFolder } from "../../run/loads/index.ts";
import { findWorkload, openTarget } from "../../run/open/index.ts";
import { loadTargetOf } from "../../run/preflight/index.ts";
import { allKeys } from "../../target/index.ts";
import { exportReadme } from "./export-readme.ts";

export interface ExportOptions {
  readonly what: string;
  readonly target?: string | undefined;
  readonly out: string;
  readonly instances: number;
  readonly output: "opentelemetry" | "prometheus";
  readonly seed: number;
  readonly brief: boolean;
  readonly k6?: string | undefined;
}

/** Memory request of one pod: startup, plus what its share of the virtual users needs (docs/scale.md). */
const BASE_MIB = 128;
const MIB_PER_USER = 1;
const CPU_MILLIS = 500;

/** Writes a folder that plain k6 and the k6 operator can run, without any key in it. */
export async function exportK6(options: ExportOptions, onProgress: OnProgress): Promise<Outcome> {
  const { out, instances } = options;
  if (!Number.isInteger(instances) || instances < 1) throw new UsageError("--instances must be a whole number from 1");
  const named = findWorkload(options.what);
  const { signal } = new AbortController();
  await using opened = await openTarget({ target: options.target }, { signal, onProgress });
  const workload = servedWorkload(named, opened.target);
  assertNoEvents(workload, "k6 does not execute them");
  const length = options.brief ? "brief" : "thorough";
  const permit = permitFor(opened.target, planOfLoads(opened.target, [workload], length), "load");
  const target = await loadTargetOf(permit, [workload]);
  const { plan, file, keys } = planForK6(workload, target, !options.brief, options.seed);
  const scripts = scriptFolder();
  const files: Record<string, string> = { "plan.json": `${JSON.stringify(file.content, null, 2)}\n` };
  for (const name of readdirSync(scripts).filter((entry) => entry.endsWith(".ts")))
    files[name] = readFileSync(join(scripts, name), "utf8");
  const bytes = Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > CONFIG_MAP_BYTES)
    throw new InternalError(`the scripts and the plan have ${bytes} bytes, a ConfigMap holds less`);
  const users = Math.max(
    ...plan.groups.map(({ arrivals, vus }) => (arrivals.kind === "at-once" ? arrivals.count : vus)),
  );
  const secrets = [...KEY_VARIABLES.slice(0, keys.length), ...Object.keys(file.secrets)];
  const name = resourceName(workload.name);
  const made = manifests({
    name,
    parallelism: instances,
    files,
    secrets,
    output: options.output,
    k6Version: K6_VERSION,
    cpuMillis: CPU_MILLIS,
    memoryMiB: BASE_MIB + Math.ceil(users / instances) * MIB_PER_USER,
  });
  const readme = exportReadme({ name, workload: workload.name, target, secrets, instances, plan });
  // The folder is meant to be shared, so it must not contain a key wherever the target file has one.
  const redactor = new Redactor(allKeys(target).map((key) => ({ name: key.name, value: key.reveal() })));
  mkdirSync(join(out, "kubernetes"), { recursive: true });
  const write = (path: string, text: string) => writeFileSync(join(out, path), redactor.redact(text).text);
  for (const [path, text] of Object.entries(files)) write(path, text);
  for (const [path, text] of Object.entries(made)) write(join("kubernetes", path), text);
  write("README.md", readme);
  const archived = await archive(options, out);
  if (!archived)
    onProgress({ kind: "notice", text: "k6 is not installed, so archive.tar was not made; README.md says how" });
  const summary = `${Object.keys(files).length} files for \`k6 run gauntlet.ts\`, manifests for ${instances} pods`;
  return {
    exitCode: EXIT.pass,
    document: { exitCode: EXIT.pass, folder: out },
    text: () => `${out}: ${summary}${archived ? ", archive.tar" : ""}\n`,
  };
}

async function archive({ k6 }: ExportOptions, out: string): Promise<boolean> {
  let path: string;
  try {
    path = findK6(k6, process.env);
  } catch (error) {
    // A k6 that was given explicitly must exist; without one, only the archive is missing from the folder.
    if (k6 !== undefined) throw error;
    return false;
  }
  await k6Once(path, ["archive", "--archive-out", "archive.tar", "gauntlet.ts"], out);
  return true;
}
