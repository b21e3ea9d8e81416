// real-time: compares durations that it measures
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { queueingGateway } from "../support/queueing-gateway.ts";

const BRIEF = ["--concurrency", "16", "--prompt-bytes", "500", "--rounds", "4", "--block-s", "0.1", "--no-frontier"];
const FROM_THE_LOG = /opens a connection|re-serialises|concurrent requests reach the upstream at once/;

interface ToWrite {
  readonly name: string;
  readonly baseUrl: string;
  readonly key: string;
  readonly controlUrl: string;
}

function targetFile(folder: string, { name, baseUrl, key, controlUrl }: ToWrite): string {
  const path = join(folder, `${name}.yaml`);
  const lines = [
    `name: ${name}`,
    `baseUrl: ${baseUrl}`,
    `keys: { valid: env:${key} }`,
    "models: { chat: upstream-model }",
    "dialects: [chat]",
    `upstream: { controlUrl: "${controlUrl}", token: env:UPSTREAM_TOKEN }`,
  ];
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

test("connections, bodies and queues are derived from the upstream's log, none for a gateway without them", async () => {
  using folder = temporaryFolder();
  await using upstream = startGauntlet(["upstream"], {}, folder.path);
  const { providers, controlUrl, controlToken } = JSON.parse(await upstream.printed("\n"));
  const options = ["gateway", "--limits", "600000:1000", "--upstream", providers.upstream];
  const changes = ["--mutation", "provider.connection-per-request", "--variant", "provider.body-rewritten"];
  await using plain = startGauntlet(options, {}, folder.path);
  await using changed = startGauntlet([...options, ...changes], {}, folder.path);
  await using queueing = await queueingGateway(providers.upstream, 4);
  const [ofPlain, ofChanged] = [JSON.parse(await plain.printed("\n")), JSON.parse(await changed.printed("\n"))];
  const files = [
    { name: "plain", baseUrl: ofPlain.baseUrl, key: "PLAIN_KEY" },
    { name: "changed", baseUrl: ofChanged.baseUrl, key: "CHANGED_KEY" },
    { name: "queueing", baseUrl: `${queueing.origin}/v1`, key: "CHANGED_KEY" },
  ].map((file) => targetFile(folder.path, { ...file, controlUrl }));
  const environment = {
    PLAIN_KEY: ofPlain.keys.valid,
    CHANGED_KEY: ofChanged.keys.valid,
    UPSTREAM_TOKEN: controlToken,
  };
  const args = ["overhead", "--target", ...files, "--upstream", providers.upstream, ...BRIEF, "--anyway", "--json"];
  const { stdout, stderr } = await gauntlet(args, environment, folder.path);
  expect(stderr).toBe("");
  const found: [string, string[]][] = JSON.parse(stdout).arms.map(
    ({ name, diagnoses }: { name: string; diagnoses: string[] }) => [
      name,
      diagnoses.filter((text) => FROM_THE_LOG.test(text)),
    ],
  );
  expect(found).toEqual([
    ["plain", []],
    [
      "changed",
      [
        "It opens a connection to the upstream for each request: 20 requests arrived on 20 connections.",
        "It re-serialises request bodies: the upstream received the same JSON value in other bytes.",
      ],
    ],
    ["queueing", ["At most 4 of 16 concurrent requests reach the upstream at once; the others wait in the gateway."]],
  ]);
});

test("a control interface that does not respond is reported, and what was measured is kept", async () => {
  using folder = temporaryFolder();
  await using upstream = startGauntlet(["upstream"], {}, folder.path);
  const { providers, controlToken } = JSON.parse(await upstream.printed("\n"));
  await using queueing = await queueingGateway(providers.upstream, 64);
  const gateway = { name: "gateway", baseUrl: `${queueing.origin}/v1`, key: "GW_KEY" };
  const file = targetFile(folder.path, { ...gateway, controlUrl: "http://127.0.0.1:1" });
  const args = ["overhead", "--target", file, "--upstream", providers.upstream, ...BRIEF, "--anyway", "--json"];
  const environment = { GW_KEY: "overhead-key-0815", UPSTREAM_TOKEN: controlToken };
  const { stdout, stderr } = await gauntlet(args, environment, folder.path);
  expect(stderr).toMatch(/gateway: no diagnoses from the log of the upstream: .*upstream\.controlUrl.*no response/);
  const [{ levels, diagnoses }] = JSON.parse(stdout).arms;
  expect(levels).toHaveLength(2);
  expect(diagnoses.filter((text: string) => FROM_THE_LOG.test(text))).toEqual([]);
});
