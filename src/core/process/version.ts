import { createRequire } from "node:module";

/** package.json is at a different depth relative to the source than to the build. */
function readManifest(): { name: string; version: string } {
  const load = createRequire(import.meta.url);
  for (const path of ["../../../package.json", "../../../package.json"]) {
    try {
      const manifest = load(path) as { name: string; version: string };
      if (manifest.name === "gateway-gauntlet") return manifest;
    } catch {
      // Not at this depth: try the other one.
    }
  }
  return { name: "gateway-gauntlet", version: "0.0.0" };
}

export const { name: NAME, version: VERSION } = readManifest();
