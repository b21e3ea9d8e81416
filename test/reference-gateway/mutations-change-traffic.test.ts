// real-time: checks fill the limits of a minute and wait for Retry-After
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type GatewayOptions, MUTATIONS, type Mutation } from "../../src/reference-gateway/index.ts";
import { startFixture } from "./support/gateway-fixture.ts";
import { PROBES, type Seen } from "./support/probes.ts";

type ProbeName = keyof typeof PROBES;

/** The probe that shows the mutations of each area. */
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
  "reply-cache": [],
  usage: ["chat", "messages", "streams"],
};

/** Mutations that a different probe shows than their area's. */
const SHOWN_BY_OTHER: Readonly<Record<string, readonly ProbeName[]>> = {
  "load.retry-after-herd": ["limits"],
  "load.world-stops": ["longPause"],
  "load.short-stops": ["longPause"],
  "stream.cut-after-a-second": ["lasting"],
  "stream.ends-quietly-after-a-second": ["lasting"],
  "concurrency.freed-during-stream": ["lasting"],
  "concurrency.freed-after-a-second": ["lasting"],
  "charge.long-streams-free": ["lasting"],
  "load.tiers-mixed-up": ["limits"],
};

/** Mutations that only a whole scenario or a load run shows. The kill matrix has the check that detects them. */
const SHOWN_BY_CHECKS: readonly string[] = [
  "auth.list-to-browsers-without-key",
  "auth.revoked-vendor-key-wins",
  "auth.vendor-key-wins",
  "base.sdk-agents-blocked",
  "base.sdk-list-to-agents-500",
  "auth.unknown-200-after-expect",
  "auth.unknown-in-chunks-500",
  "body.chunks-refused",
  "body.empty-object-500",
  "body.spaces-refused",
  "body.surrogates-refused",
  "body.too-large-in-chunks-resets",
  "body.too-large-unread",
  "charge.conversations-free",
  "charge.cut-replies-free",
  "chat.cache-ignores-case",
  "load.slow-for-a-while",
  "load.unknown-model-503-when-full",
  "messages.empty-system-500",
  "messages.output-limit-of-one-turn-only",
  "messages.system-in-parts-500",
  "messages.system-lines-refused",
  "messages.version-refused-on-streams",
  "models.any-letter-case",
  "models.any-provider",
  "models.matched-by-beginning",
  "models.more-behind-ignored",
  "models.passed-on-with-provider",
  "models.dead-entry-for-second-key",
  "models.not-listed-for-second-key",
  "models.null-without-balance",
  "models.unknown-beyond-ascii-500",
  "rate.conversations-free",
  "rate.emptied-by-denials",
  "rate.growth-as-starter",
  "rate.growth-at-six-tenths",
  "rate.per-client",
  "rate.per-scheme",
  "rate.per-vendor-key",
  "rate.scale-as-growth",
  "rate.starter-a-third",
  "rate.upgrade-without-effect",
  "concurrency.upgrade-without-effect",
  "rate.starter-as-growth",
  "rate.streams-by-quarter-minute",
  "concurrency.abandoned-free-two",
  "concurrency.failed-free-two",
  "concurrency.freed-during-second-keys-streams",
  "concurrency.freed-during-slow-streams",
  "concurrency.growth-as-starter",
  "concurrency.per-scheme",
  "concurrency.per-vendor-key",
  "concurrency.leaked-by-output-limit",
  "concurrency.leaked-by-streams-left-late",
  "concurrency.reused-connections-take-two",
  "concurrency.scale-as-growth",
  "concurrency.non-streaming-freed-after-a-second",
  ...MUTATIONS.map(({ name }) => name).filter((name) => name.startsWith("reply-cache.")),
  "spend.cap-forgotten-after-a-while",
  "spend.children-share-a-pot",
  "spend.empty-account-served-by-scheme",
  "spend.per-scheme",
  "spend.per-vendor-key",
  "stream.accept-json-406",
  "stream.forced-by-accept",
  "stream.ignored-for-accept-json",
  "stream.buffered-beyond-ascii",
  "tokens.unusual-scheme-free",
  "stream.forced-by-slow-model",
  "stream.long-event-lost",
  "stream.forced-by-slow-model-on-messages",
];

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
async function shows({ name, area, needsLoad }: Mutation): Promise<boolean> {
  for (const probe of [
    ...(SHOWN_BY_OTHER[name] ?? SHOWN_BY[area] ?? []),
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
const probed = MUTATIONS.filter(({ name, area }) => !SHOWN_BY_CHECKS.includes(name) && area !== "provider");
const digest = ({ name }: Mutation) => createHash("sha256").update(name).digest("hex");
const sample = Object.keys(SHOWN_BY).flatMap((area) => {
  const own = probed.filter((mutation) => mutation.area === area);
  const share = SLOW_AREAS.includes(area) ? 45 : 9;
  return own.sort((a, b) => digest(a).localeCompare(digest(b))).slice(0, Math.ceil(own.length / share));
});
const chosen = only === undefined ? sample : probed.filter(({ name }) => new RegExp(only).test(name));

test("the tables name mutations and areas that exist", () => {
  const names = MUTATIONS.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...Object.keys(SHOWN_BY_OTHER), ...SHOWN_BY_CHECKS]));
  expect(new Set(MUTATIONS.map(({ area }) => area))).toEqual(new Set([...Object.keys(SHOWN_BY), "provider"]));
});

describe("a defect changes the traffic", () => {
  test.each(chosen)("$name", { timeout: 90_000 }, async (mutation) => {
    expect(await shows(mutation)).toBe(true);
  });
});

test("every defect says what it breaks, under a unique name", () => {
  expect(new Set(MUTATIONS.map(({ name }) => name)).size).toBe(MUTATIONS.length);
  for (const { name, area, requirements, summary } of MUTATIONS) {
    expect(name).toMatch(/^[a-z-]+\.[a-z0-9-]+$/);
    expect(name.startsWith(`${area}.`)).toBe(true);
    expect(summary).toMatch(/^\S.*\.$/);
    expect(requirements.length).toBeGreaterThan(0);
    for (const requirement of requirements)
      expect(requirement).toMatch(/^([A-Z0-9]+(-[A-Z0-9]+)+|(protocol|compat):[a-z0-9-]+)$/);
  }
});

test("every defect starts and serves", { timeout: 60_000 }, async () => {
  await using fixture = await startFixture({ limits: { rpm: 1_000_000, inFlight: 1_000 } });
  const unserved: string[] = [];
  for (const { name } of MUTATIONS) {
    await fixture.admin("PUT", "/mutations", { enabled: [name] });
    const { status, end } = await fixture.send({ path: "/models", idleMs: 300 });
    if (status !== 200 || end !== "complete") unserved.push(name);
  }
  expect(unserved).toEqual(["base.no-models", "base.list-redirects", "models.304"]);
});
