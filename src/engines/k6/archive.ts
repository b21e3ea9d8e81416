import { spawn } from "node:child_process";
import { InternalError, messageOf } from "../../core/index.ts";

/**
 * Runs k6 once in a folder, without our environment, so that its output cannot contain a key.
 *
 * @throws InternalError with the output of k6.
 */
export async function k6Once(k6: string, args: readonly string[], cwd: string): Promise<void> {
  const { PATH, HOME, TMPDIR } = process.env;
  const environment = Object.fromEntries(
    Object.entries({ PATH, HOME, TMPDIR }).filter(([, value]) => value !== undefined),
  );
  const child = spawn(k6, args, {
    cwd,
    env: { ...environment, K6_NO_USAGE_REPORT: "true", K6_AUTO_EXTENSION_RESOLUTION: "false" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (bytes: Buffer) => {
    said = (said + bytes.toString("utf8")).slice(-2_000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", (error) => reject(new InternalError(`k6 cannot be run: ${messageOf(error)}`, { cause: error })));
    child.on("close", resolve);
  });
  if (code !== 0) throw new InternalError(`k6 ${args[0]} ended with exit code ${code}: ${said.trim()}`);
}
