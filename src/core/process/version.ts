import { createRequire } from "node:module";

/** package.json is at the same depth relative to the source and to the build. */
function readManifest(): { name: string; version: string } {
  try {
    const manifest = createRequire(import.meta.url)("../../../package.json") as { name: string; version: string };
    if (manifest.name === "gateway-gauntlet") return manifest;
  } catch {
    // The library may be part of another program's bundle.
  }
  return { name: "gateway-gauntlet", version: "0.0.0" };
}

export const { name: NAME, version: VERSION } = readManifest();
