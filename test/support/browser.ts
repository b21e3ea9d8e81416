import { createServer } from "node:http";
import bundled from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";
import { listening } from "./listening.ts";

/**
 * A Chromium from an npm package, so that no machine needs to have one. `GAUNTLET_BROWSER` names another one, for systems other
 * than Linux.
 */
export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env["GAUNTLET_BROWSER"] ?? (await bundled.executablePath());
  // In a container there is often no user namespace for the sandbox; we only open our own pages.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"], headless: true });
}

export interface Site extends AsyncDisposable {
  readonly url: string;
}

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css",
  js: "text/javascript",
};

/** Serves files under a policy, as a CI server does with the files of a build. */
export async function serve(files: ReadonlyMap<string, string>, policy: string): Promise<Site> {
  const server = createServer((request, response) => {
    const name = (request.url ?? "/").slice(1);
    const text = files.get(name);
    const type = TYPES[name.split(".").at(-1) ?? ""] ?? "text/plain";
    response.writeHead(text === undefined ? 404 : 200, { "content-type": type, "content-security-policy": policy });
    response.end(text ?? "");
  });
  const open = await listening(server, () => server.closeAllConnections());
  return { ...open, url: open.origin };
}
