import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runnableBlocks, startDocsShell } from "../support/docs-shell.ts";

describe("a claim is submitted and disputed with the commands of docs/submitting.md", () => {
  const shell = startDocsShell();
  const path = (...names: string[]) => join(shell.folder, ...names);
  afterAll(() => {
    // Unless the last block did.
    shell.run('if [ -e gateway.pid ]; then kill "$(cat gateway.pid)" 2>/dev/null || true; fi');
    shell[Symbol.dispose]();
  });

  test.each(runnableBlocks("docs/submitting.md"))("exit $exit: $script", ({ exit, script }) => {
    const { code, output } = shell.run(script);
    expect(code, output).toBe(exit);
    if (script.includes("verify-claim")) expect(output).toContain("VERIFIED: ");
  });

  test("the claim states the build, and the page shows it as verified", () => {
    const { gateway, profiles } = JSON.parse(readFileSync(path("my-run", "claim.json"), "utf8"));
    expect(gateway).toMatchObject({ name: "Example Gateway", version: expect.stringContaining("1.42.0") });
    expect(profiles.filter(({ claimed }: { claimed: boolean }) => claimed)).toHaveLength(1);
    expect(readFileSync(path("my-matrix", "index.html"), "utf8")).toContain("recomputed from the record");
    expect(existsSync(path("my-matrix", "badge-example-gateway-chat.svg"))).toBe(true);
  });
});
