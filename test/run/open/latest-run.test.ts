import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";

const FAILING = ["--target", "embedded", "--mutation", "auth.unknown-key-200"];

test("--last-failed runs what failed in the latest run of the target, and show-report shows it", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const inFolder = (...args: string[]) => gauntlet(args, {}, folder.path);
  expect((await inFolder("conform", "--last-failed", "--target", "embedded")).stderr).toMatch(
    /--last-failed: gauntlet-runs has no conformance run of embedded reference gateway/,
  );
  const first = JSON.parse((await inFolder("conform", "auth", "models", "--json", ...FAILING)).stdout);
  const again = JSON.parse((await inFolder("conform", "--last-failed", "--json", ...FAILING)).stdout);
  expect(first.counts.fail).toBeGreaterThan(0);
  expect([again.counts.fail, again.counts.pass]).toEqual([first.counts.fail, 0]);
  expect(await inFolder("conform", "auth", "--last-failed", "--target", "embedded")).toMatchObject({ code: 2 });
  await inFolder("conform", "--last-failed", "--target", "embedded", "--out", "gauntlet-runs/sound");
  const none = await inFolder("conform", "--last-failed", "--target", "embedded");
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("no check failed in gauntlet-runs/sound")]);

  await using shown = startGauntlet(["show-report", "--no-open"], {}, folder.path);
  const [, dir = "", address = ""] =
    /^serving the report of (\S+) at (\S+);/m.exec(await shown.printed("press Ctrl-C to stop")) ?? [];
  expect(dir).toBe("gauntlet-runs/sound");
  const page = await fetch(address);
  expect([page.status, page.headers.get("content-security-policy")]).toEqual([200, null]);
  expect(await page.text()).toContain("Content-Security-Policy");
  rmSync(join(folder.path, "gauntlet-runs"), { recursive: true });
  const empty = await inFolder("show-report", "--no-open");
  expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining("gauntlet-runs has no report")]);
});
