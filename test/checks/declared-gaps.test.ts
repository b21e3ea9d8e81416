import { expect, test } from "vitest";
import { startGateway } from "../../src/reference-gateway/index.ts";
import { describeEmbedded, type ReadyLine } from "../../src/target/index.ts";
import { conformTo } from "../support/judge.ts";

const RETRY_AFTER = ["retry-after.present", "retry-after.usable", "retry-after.concurrency"];

test.each<[gaps: Record<string, string>, status: string]>([
  [{ "limited.rate": "no limits", "limited.concurrency": "no limits" }, "not-applicable"],
  [{}, "inconclusive"],
])("with the declared gaps %j, a Retry-After that limit denials never carried is %s", async (skip, status) => {
  await using gateway = await startGateway({});
  const { target } = describeEmbedded(gateway.ready as unknown as ReadyLine);
  const results = await conformTo({ ...target, skip }, { only: ["models.list", ...RETRY_AFTER] });
  expect(results.filter(({ id }) => RETRY_AFTER.includes(id)).map((result) => result.status)).toEqual(
    RETRY_AFTER.map(() => status),
  );
});
