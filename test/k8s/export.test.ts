// real-time: sends load, and judges how much of it was served in time
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { type IJob, Job } from "kubernetes-models/batch/v1";
import {
  ConfigMap,
  type IConfigMap,
  type IPersistentVolumeClaim,
  type ISecret,
  PersistentVolumeClaim,
  Secret,
} from "kubernetes-models/v1";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Folder, gauntlet, MAIN, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";

const KEY = "sk-canary-0123456789-abcdefghijkl";
const SECRET_HEADER = "ch-header-9876543210-zyxwvutsrqpo";
const SHARDS = 4;

async function exported(folder: Folder, ...more: string[]) {
  const target = join(folder.path, "gauntlet.yaml");
  const keyFile = join(folder.path, "second.key");
  writeFileSync(keyFile, KEY);
  writeFileSync(
    target,
    `baseUrl: http://gateway.example.test/v1
authorized: true
keys: { valid: "file:second.key", second: env:OTHER_KEY }
models: { chat: m, stream: s }
tiers: { starter: { key: env:OTHER_KEY } }
extraHeaders: { all: { X-Tenant: env:TENANT, X-Plain: visible } }
`,
  );
  writeFileSync(join(folder.path, "trace.jsonl"), '{"offsetMs":0}\n{"offsetMs":20,"stream":true}\n'.repeat(4));
  const workload = join(folder.path, "workload.yaml");
  writeFileSync(workload, "name: Some_Load.1\narrivals: { kind: replay, file: trace.jsonl }\n");
  const out = join(folder.path, "out");
  const args = ["k8s", "export", workload, "--target", target, "--shards", String(SHARDS), "--out", out, ...more];
  const done = await gauntlet(args, { OTHER_KEY: `${KEY}-2`, TENANT: SECRET_HEADER });
  expect(done.code, done.stderr).toBe(0);
  const files = Object.fromEntries(
    readdirSync(out).map((name) => [name, readFileSync(join(out, name), "utf8")] as const),
  );
  const read = (name: string) => parse(files[name] ?? "");
  return { out, files, read };
}

/** Validates with the validators that kubernetes-models compiles from the OpenAPI schema of Kubernetes. @throws what is wrong */
function assertValid(resource: { readonly kind: string } & object): void {
  const { kind } = resource;
  if (kind === "Job") new Job(resource as IJob).validate();
  else if (kind === "ConfigMap") new ConfigMap(resource as IConfigMap).validate();
  else if (kind === "Secret") new Secret(resource as ISecret).validate();
  else if (kind === "PersistentVolumeClaim") new PersistentVolumeClaim(resource as IPersistentVolumeClaim).validate();
  else throw new Error(`${kind} has no validator here`);
}

/** Validates with the schema of its CustomResourceDefinition. @throws what is wrong */
function assertJobSet(resource: object): void {
  const schema = JSON.parse(readFileSync(join(import.meta.dirname, "jobset-schema.json"), "utf8"));
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  if (!ajv.validate(schema, resource)) throw new Error(ajv.errorsText());
}

interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: readonly {
    readonly name: string;
    readonly valueFrom: { readonly secretKeyRef?: { readonly name: string } };
  }[];
}

describe("manifests for Kubernetes", () => {
  test("are validated with its schema, which detects errors", () => {
    expect(() => assertValid(parse("{ apiVersion: batch/v1, kind: Job, spec: { template: { spec: {} } } }"))).toThrow(
      /containers/,
    );
  });

  test("are what its schema says, share the load among the pods of an Indexed Job, and hold no key", async () => {
    using folder = temporaryFolder();
    const { files, read } = await exported(folder, "--start-at", "2026-01-31T12:00:00Z");
    for (const name of Object.keys(files).filter((one) => one.endsWith(".yaml"))) assertValid(read(name));
    for (const [name, text] of Object.entries(files))
      for (const secret of [KEY, SECRET_HEADER]) expect(text.includes(secret), `${name} holds a key`).toBe(false);
    expect(Object.keys(files).sort()).toEqual(
      [
        ...["README.md", "configmap.yaml", "job.yaml", "merge.yaml"],
        ...["secret.example.yaml", "start.yaml", "volume.yaml"],
      ].sort(),
    );
    const { metadata, spec } = read("job.yaml");
    expect(spec).toMatchObject({ completionMode: "Indexed", completions: SHARDS, parallelism: SHARDS });
    const pod = spec.template.spec;
    const [wait] = pod.initContainers as Container[];
    const [shard] = pod.containers as Container[];
    expect(wait?.name).toBe("wait-for-start");
    expect(read("start.yaml").data).toEqual({ startAt: String(Date.parse("2026-01-31T12:00:00Z") / 1_000) });
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true });
    const variables = shard?.env.filter(({ valueFrom }) => valueFrom.secretKeyRef?.name === `${metadata.name}-keys`);
    expect(variables?.map(({ name }) => name)).toEqual(["GAUNTLET_KEY", "TENANT"]);
    expect(Object.keys(read("secret.example.yaml").stringData)).toEqual(["GAUNTLET_KEY", "TENANT"]);
    expect(metadata.name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
  });

  test("run: the pods' command lines, with the files of the ConfigMap, send the schedule once and are merged", async () => {
    using folder = temporaryFolder();
    const { files, read } = await exported(folder);
    await using gateway = startGauntlet(["gateway", "--with-upstream"]);
    const printed = await gateway.printed(/\{"event":"ready".*\}\n/s);
    const ready = JSON.parse(printed.slice(printed.indexOf("{"), printed.indexOf("\n", printed.indexOf("{"))));
    const mounted = join(folder.path, "load");
    const results = join(folder.path, "results");
    for (const path of [mounted, results, join(folder.path, "bin")]) mkdirSync(path);
    for (const [name, text] of Object.entries<string>(read("configmap.yaml").data))
      writeFileSync(
        join(mounted, name),
        text
          .replace("http://gateway.example.test/v1", ready.baseUrl)
          .replace("chat: m", "chat: echo-fast")
          .replace("stream: s", "stream: echo-fast"),
      );
    writeFileSync(join(folder.path, "bin", "gauntlet"), `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`, {
      mode: 0o755,
    });
    // Time for four processes to start and to measure their clocks; on an even slower machine they join late.
    const startAt = Math.floor(Date.now() / 1_000) + 9;
    const run = async (script: string, more: Record<string, string>) => {
      const inside = script.replaceAll("/load/", `${mounted}/`).replaceAll("/results/", `${results}/`);
      const environment = { GAUNTLET_KEY: ready.keys.valid, TENANT: SECRET_HEADER, START_AT: String(startAt), ...more };
      const path = `${join(folder.path, "bin")}:${process.env["PATH"]}`;
      const child = spawn("sh", ["-c", inside], { env: { ...process.env, ...environment, PATH: path } });
      let [stdout, stderr] = ["", ""];
      child.stdout.on("data", (bytes) => {
        stdout += String(bytes);
      });
      child.stderr.on("data", (bytes) => {
        stderr += String(bytes);
      });
      const [code] = await once(child, "close");
      return { code, stdout, stderr };
    };
    const commandOf = (file: string): string => read(file).spec.template.spec.containers[0].command[2];
    const shards = await Promise.all(
      Array.from({ length: SHARDS }, (_, index) => run(commandOf("job.yaml"), { JOB_COMPLETION_INDEX: String(index) })),
    );
    const said = shards.map(({ stderr }) => stderr).join("\n");
    expect(
      shards.map(({ code }) => code),
      said,
    ).toEqual(Array(SHARDS).fill(0));
    const { code, stdout } = await run(commandOf("merge.yaml"), {});
    expect(code).toBe(0);
    const document = JSON.parse(stdout);
    const { offered, sent, admitted, dropped } = document.phases[0];
    expect([offered, sent + dropped, admitted]).toEqual([8, 8, sent]);
    expect(document.instances.map(({ complete }: { complete: boolean }) => complete)).toEqual(Array(SHARDS).fill(true));
    expect(files["README.md"]).toContain("kubectl apply -f job.yaml");
  }, 60_000);

  test("a JobSet holds the same Job, and results go to an object store", async () => {
    using folder = temporaryFolder();
    const { files, read } = await exported(folder, "--jobset", "--store", "s3://results/load");
    expect(Object.keys(files)).not.toContain("volume.yaml");
    const jobSet = read("jobset.yaml");
    assertJobSet(jobSet);
    expect(() => assertJobSet({ ...jobSet, spec: { ...jobSet.spec, shards: 4 } })).toThrow(/additional properties/);
    const { apiVersion, kind, metadata, spec } = jobSet;
    expect([apiVersion, kind]).toEqual(["jobset.x-k8s.io/v1alpha2", "JobSet"]);
    const [replicated] = spec.replicatedJobs;
    expect(Object.keys(replicated).sort()).toEqual(["name", "replicas", "template"]);
    assertValid({ ...{ apiVersion: "batch/v1", kind: "Job", metadata }, ...replicated.template });
    const pod = replicated.template.spec.template.spec;
    expect(pod.initContainers.map(({ name }: Container) => name)).toEqual(["wait-for-start", "shard"]);
    expect(pod.containers[0].args).toEqual(["s3", "cp", "--recursive", "/results", "s3://results/load"]);
    for (const name of ["configmap.yaml", "secret.example.yaml", "store-secret.example.yaml"]) assertValid(read(name));
  });

  test.each<[args: string[], says: string]>([
    [["starter", "--shards", "2"], "starter is a tier run"],
    [["workload.yaml", "--shards", "0"], "--shards takes a whole number from 1 to 1000"],
    [["workload.yaml", "--shards", "2", "--store", "gs://b"], "--store takes s3://BUCKET/PREFIX"],
    [["workload.yaml", "--shards", "2", "--target", "embedded"], "pods cannot reach the embedded gateway"],
  ])("%j is refused", async (args, says) => {
    using folder = temporaryFolder();
    writeFileSync(
      join(folder.path, "workload.yaml"),
      "name: w\narrivals: { kind: constant, ratePerS: 5, durationS: 2 }\n",
    );
    const { code, stderr } = await gauntlet(
      ["k8s", "export", ...args, "--out", join(folder.path, "out")],
      {},
      folder.path,
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });
});
