// Finds k6, or builds it, and prints its path: K6_PATH, PATH, then Go. Used by .ci/run and before tests that need it.
import { spawnSync } from "node:child_process";
import { accessSync, constants, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const VERSION = "v1.8.1";

const runs = (path) => {
  try {
    accessSync(path, constants.X_OK);
    return spawnSync(path, ["version"]).status === 0;
  } catch {
    return false;
  }
};

const known = [
  process.env.K6_PATH,
  ...(process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "k6")),
  join(tmpdir(), `gauntlet-k6-${VERSION}`, "k6"),
].find((path) => path !== undefined && path !== "" && runs(path));

if (known !== undefined) {
  console.log(known);
} else {
  const folder = join(tmpdir(), `gauntlet-k6-${VERSION}`);
  mkdirSync(folder, { recursive: true });
  const built = spawnSync("go", ["install", `go.k6.io/k6@${VERSION}`], {
    env: { ...process.env, GOBIN: folder },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (built.status === 0) console.log(join(folder, "k6"));
  else {
    console.error(
      `k6 is not installed and cannot be built: go ${built.error?.message ?? `ended with ${built.status}`}`,
    );
    process.exitCode = 1;
  }
}
