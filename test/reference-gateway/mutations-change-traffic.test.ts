// real-time: checks fill the limits of a minute and wait for Retry-After
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type GatewayOptions, MUTATIONS, type Mutation } from "../../src/reference-gateway/index.ts";
import { startFixture } from "./support/gateway-fixture.ts";
import { PROBES, type Seen } from "./support/probes.ts";

type ProbeName = keyof typeof PROBES;

/** The probes that show the mutations of an area, unless a declaration names others. */
const SHOWN_BY: Readonly<Record<string, readonly ProbeName[]>> = {
  base: ["paths"],
  auth: ["keys"],
  security: ["keys", "denials", "chat", "upstream", "models"],
  models: ["models"],
  chat: ["chat", "bodies"],
  messages: ["messages"],
  body: ["bodies"],
  stream: ["streams", "pace", "upstream"],
  text: ["streams"],
  denial: ["denials", "limits"],
  upstream: ["upstream"],
  rate: ["rate"],
  "retry-after": ["limits", "chat"],
  "rate-headers": ["limits"],
  tokens: ["tokens"],
  concurrency: ["concurrency"],
  spend: ["money"],
  charge: ["charges"],
  protocol: ["protocol"],
  compat: ["streams", "chat", "messages"],
  tools: ["tools"],
  images: ["capabilities"],
  structured: ["capabilities"],
  load: [],
  reply: ["chat", "streams"],
  usage: ["chat", "messages", "streams"],
};

/** Areas that only whole scenarios show. */
const SHOWN_BY_CHECKS = ["disturbed", "ledger", "provider", "replicas", "reply-cache"];

const OPTIONS: Partial<Record<ProbeName, GatewayOptions>> = {
  many: { limits: { rpm: 1_000_000, inFlight: 30 } },
  tokens: { tokens: { perMinute: 400 } },
  lasting: { slowMs: 1_300 },
  capabilities: { bodyLimitBytes: 1_000_000 },
};

const clean = new Map<ProbeName, Promise<readonly Seen[]>>();

async function seenBy(name: ProbeName, mutations: readonly string[]): Promise<readonly Seen[]> {
  await using fixture = await startFixture({
    mutations,
    limits: { rpm: 1_000_000, inFlight: 1_000 },
    bodyLimitBytes: 65_536,
    ...OPTIONS[name],
  });
  return await PROBES[name](fixture);
}

/** @returns true if the mutation changes what at least one of its probes sees. */
async function shows({ name, area, shownBy, needsLoad }: Mutation): Promise<boolean> {
  for (const probe of [
    ...((shownBy ?? SHOWN_BY[area] ?? []) as readonly ProbeName[]),
    ...(needsLoad === true ? (["many"] as const) : []),
  ]) {
    const expected = clean.get(probe) ?? seenBy(probe, []);
    clean.set(probe, expected);
    const seen = await seenBy(probe, [name]);
    if (JSON.stringify(seen) !== JSON.stringify(await expected)) return true;
  }
  return false;
}

describe("without a defect", () => {
  test.each((Object.keys(PROBES) as ProbeName[]).filter((name) => name !== "longPause"))(
    "%s has the same traffic every time",
    { timeout: 60_000 },
    async (probe) => {
      expect(await seenBy(probe, [])).toEqual(await seenBy(probe, []));
    },
  );
});

/**
 * All mutations take many minutes, so a plain run takes a ninth of each area, and less if waiting makes a probe slow. The names
 * decide which, so that the order of the table does not. `GATEWAY_MUTATIONS=.` takes all, another pattern those whose names
 * match.
 */
const SLOW_AREAS = ["load", "concurrency", "rate", "stream", "charge"];
const only = process.env["GATEWAY_MUTATIONS"];
// Defects towards real providers show at these: `test/checks` judges them from the providers' side.
const probed = MUTATIONS.filter(({ area, shownBy }) => shownBy !== "checks" && !SHOWN_BY_CHECKS.includes(area));
const digest = ({ name }: Mutation) => createHash("sha256").update(name).digest("hex");
const sample = Object.keys(SHOWN_BY).flatMap((area) => {
  const own = probed.filter((mutation) => mutation.area === area);
  const share = SLOW_AREAS.includes(area) ? 45 : 9;
  return own.sort((a, b) => digest(a).localeCompare(digest(b))).slice(0, Math.ceil(own.length / share));
});
const chosen = only === undefined ? sample : probed.filter(({ name }) => new RegExp(only).test(name));

test("every area and every named probe exists", () => {
  expect(new Set(MUTATIONS.map(({ area }) => area))).toEqual(new Set([...Object.keys(SHOWN_BY), ...SHOWN_BY_CHECKS]));
  for (const { shownBy } of MUTATIONS)
    if (shownBy !== undefined && shownBy !== "checks")
      expect(Object.keys(PROBES)).toEqual(expect.arrayContaining([...shownBy]));
});

describe("a defect changes the traffic", () => {
  test.each(chosen)("$name", { timeout: 90_000 }, async (mutation) => {
    expect(await shows(mutation)).toBe(true);
  });
});

test("every defect says what it breaks, under a unique name", () => {
  expect(new Set(MUTATIONS.map(({ name }) => name)).size).toBe(MUTATIONS.length);
  for (const { name, area, breaks, summary } of MUTATIONS) {
    expect(name).toMatch(/^[a-z-]+\.[a-z0-9-]+$/);
    expect(name.startsWith(`${area}.`)).toBe(true);
    expect(summary).toMatch(/^\S.*\.$/);
    expect(breaks.length).toBeGreaterThan(0);
    for (const requirement of breaks)
      expect(requirement).toMatch(/^([A-Z0-9]+(-[A-Z0-9]+)+|(protocol|compat):[a-z0-9-]+)$/);
  }
});

test("every defect starts and serves the model list, except three that break that", { timeout: 60_000 }, async () => {
  await using fixture = await startFixture({ limits: { rpm: 1_000_000, inFlight: 1_000 } });
  const unserved: string[] = [];
  for (const { name } of MUTATIONS) {
    await fixture.admin("PUT", "/mutations", { enabled: [name] });
    const { status, end } = await fixture.send({ path: "/models", idleMs: 300 });
    if (status !== 200 || end !== "complete") unserved.push(name);
  }
  expect(unserved.sort()).toEqual(["base.list-redirects", "base.no-models", "models.304"]);
});
