import { createRequire } from "node:module";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly homepage?: string;
}

/** package.json is at the same depth relative to the source and to the build. */
function readManifest(): Manifest {
  try {
    const manifest = createRequire(import.meta.url)("../../../package.json") as Manifest;
    if (manifest.name === "gateway-gauntlet") return manifest;
  } catch {
    // The library may be part of another program's bundle.
  }
  return { name: "gateway-gauntlet", version: "0.0.0" };
}

const { name, version, homepage } = readManifest();

export const NAME = name;
export const VERSION = version;

/** Set by `scripts/bundle.mjs`: the commit that the program was built from. */
declare const BUILD: { readonly commit: string; readonly dirty: boolean } | undefined;

/** The build of this program; `undefined` if it runs from source, or was built without a repository. */
export const BUILD_OF_PROGRAM = typeof BUILD === "undefined" ? undefined : BUILD;

/**
 * Address of a page of the documentation, such as `checks.md#authbearer`; `undefined` inside another program's bundle, or while
 * `homepage` in package.json is a placeholder.
 */
export function docsAddress(page: string, home: string | undefined = homepage): string | undefined {
  return home === undefined || home.includes("OWNER/REPOSITORY")
    ? undefined
    : `${home.replace(/#.*$/, "")}/blob/main/docs/${page}`;
}
