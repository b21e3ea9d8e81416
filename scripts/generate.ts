// `npm run generate`: writes the schemas and pages that are generated from code. A test fails if they are out of date.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { generatedFiles, ROOT } from "./docs/generated-files.ts";

for (const { path, text } of generatedFiles()) {
  mkdirSync(dirname(ROOT + path), { recursive: true });
  writeFileSync(ROOT + path, text);
}
