// real-time: checks fill the limits of a minute and wait for Retry-After
import { describe, expect, it } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { instancesOf, suiteOf } from "../../src/checks/index.ts";
import { VARIANTS } from "../../src/reference-gateway/index.ts";
import { CHECKS } from "../../suites/index.ts";

/** Checks that wait for nothing and use nothing up; `npm run verify mutations` judges the rest too. */
const INSTANCES = CHECKS.filter((check) => {
  if (["limits", "retry-after", "spending"].includes(suiteOf(check.id))) return false;
  return check.kind === "invariant" || check.schedule === undefined;
}).flatMap(instancesOf);

const UPGRADE = CHECKS.filter(({ id }) => id === "limits.tier-change").flatMap(instancesOf);

/** One of each kind; `npm run verify mutations` judges all of them. */
const ODD = [
  "http.lower-case-headers",
  "http.one-byte-chunks",
  "http.connection-close",
  "http.gzip-unless-excluded",
  "http.padded-header-values",
  "http.refuses-unread-and-resets",
  "stream.crlf",
  "stream.comments",
  "stream.one-event-per-text",
  "stream.unknown-fields",
  "stream.byte-order-mark",
  "json.pretty",
  "chat.more-fields",
  "stream.chunk-about-the-prompt-first",
  "messages.more-fields",
  "chat.model-with-a-date",
  "chat.model-with-a-provider",
  "chat.top-p-hiccup",
  "messages.system-ignored-now-and-then",
  "auth.one-key-only",
  "models.resembling",
  "models.more-pages",
  "models.alias",
  "errors.code-null",
  "models.many",
  "models.shorten-long-texts",
  "models.unusual-ids",
  "reply-cache.identical-requests",
  "reply-cache.hits-count-nothing",
  "models.five-megabytes",
  "http.slow-first-byte",
  "messages.unknown-block-last",
  "limits.paced-loosely",
  "provider.first-one-twice",
  "provider.long-events-in-parts",
  "provider.long-event-is-an-error",
  "provider.more-turns",
  "provider.texts-as-parts",
];

/** Limiters that admit only some of the concurrent requests, or forget their counts when the limit changes. */
const LIMITERS = [
  "limits.sliding-log",
  "limits.fixed-window",
  "limits.clock-minute",
  "limits.token-bucket",
  "limits.token-bucket-tenth",
  "limits.paced",
  "limits.paced-loosely",
];

describe.concurrent("unusual conformant gateways pass", () => {
  it.each([
    ...ODD.map((name) => [name, "whatever waits for nothing", INSTANCES] as const),
    ...LIMITERS.map((name) => [name, "an upgrade", UPGRADE] as const),
  ])("%s: %s", { timeout: 240_000 }, async (name, _, instances) => {
    const variant = VARIANTS.find((known) => known.name === name);
    if (variant === undefined) throw new Error(`no variant ${name}`);
    const { results } = await judgeGateway({ variants: [name], instances });
    const blamed = results.filter(
      ({ id, status, violated }) =>
        !["pass", "observed", "not-applicable"].includes(status) &&
        !(status === "blocked" && variant.blocks?.some((check) => id.startsWith(`${check}[`))) &&
        !(status === "warn" && violated.every((requirement) => variant.warns?.includes(requirement))),
    );
    expect(blamed.map(({ id, status, message }) => `${id} ${status}: ${message}`)).toEqual([]);
  });
});
