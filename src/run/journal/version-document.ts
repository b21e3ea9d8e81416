import { createHash } from "node:crypto";
import { NAME, VERSION } from "../../core/index.ts";
import { RECORD_VERSION } from "../../record/index.ts";
import { REQUIREMENT_SET, REQUIREMENTS } from "../../requirements/index.ts";

/** What `--version --json` prints: everything that determines the meaning of a run. */
export function versionDocument(): object {
  return {
    schemaVersion: 1,
    name: NAME,
    version: VERSION,
    recordVersion: RECORD_VERSION,
    requirementSet: requirementSet(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
  };
}

/** The requirement set in use, as records name it. */
export function requirementSet(): { readonly version: string; readonly sha256: string } {
  const sha256 = createHash("sha256").update(JSON.stringify(REQUIREMENTS)).digest("hex");
  return { version: String(REQUIREMENT_SET), sha256 };
}
