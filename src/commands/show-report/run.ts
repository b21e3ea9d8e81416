import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../../core/index.ts";
import { latestReport } from "../../run/open/index.ts";
import { type LocalServer, startLocalServer } from "../../telemetry/live/index.ts";

export interface ShowReportOptions {
  /** Folder of a run; default: the latest with a report. */
  readonly dir?: string | undefined;
  readonly port: number;
  /** Whether to open a browser. */
  readonly open: boolean;
}

/** Programs that open an address in the default browser. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ["open"],
  win32: ["explorer"],
};

/**
 * Serves the report of a run on 127.0.0.1, and opens it.
 *
 * @throws UsageError when the folder has no report.
 */
export async function showReport({
  dir,
  port,
  open,
}: ShowReportOptions): Promise<LocalServer & { readonly dir: string }> {
  const folder = dir ?? latestReport();
  const file = join(folder, "report.html");
  if (!existsSync(file))
    throw new UsageError(`${folder} has no report.html`, { hint: `\`gauntlet report ${folder}\` writes it.` });
  const server = await startLocalServer({
    port,
    option: "--port",
    routes: new Map([
      [
        "/",
        (_request, response) => {
          // The page has its own policy, with the hashes of its style and script.
          response.removeHeader("content-security-policy");
          response.setHeader("content-type", "text/html; charset=utf-8");
          response.end(readFileSync(file));
        },
      ],
    ]),
  });
  if (open) openInBrowser(server.origin);
  return { ...server, dir: folder, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Without a browser, the printed address is enough. */
function openInBrowser(address: string): void {
  const [program = "xdg-open", ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  spawn(program, [...args, address], { stdio: "ignore", detached: true })
    .on("error", () => undefined)
    .unref();
}
