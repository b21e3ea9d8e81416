import { describe, expect, it } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { instancesOf } from "../../src/checks/index.ts";
import { VARIANTS } from "../../src/reference-gateway/index.ts";
import { CONVERSATION } from "../../suites/upstream/conversation.ts";
import { TOOLS } from "../../suites/upstream/tools/index.ts";

const INSTANCES = [...CONVERSATION, ...TOOLS].flatMap(instancesOf);
const TIMEOUT = { timeout: 120_000 };

/** Variants that change what the checks compare: bodies, turns, tools, streams. */
const CHANGES_BODIES = /tool|schema|earlier|body|texts|turns|fields|cache|pieces/;

describe.concurrent("gateways that handle providers in an unusual way pass every check of conversations, parameters, tools and structured outputs", () => {
  const names = VARIANTS.filter(({ area, name }) => area === "provider" && CHANGES_BODIES.test(name)).map(
    ({ name }) => name,
  );

  it.each(names)("%s", TIMEOUT, async (name) => {
    const { results } = await judgeGateway({ variants: [name], instances: INSTANCES });
    expect(results.map(({ id }) => id)).toEqual(INSTANCES.map(({ id }) => id));
    const bad = results.filter(({ status }) => status !== "pass");
    expect(bad.map(({ id, status, message }) => `${id} ${status}: ${message}`)).toEqual([]);
  });
});
