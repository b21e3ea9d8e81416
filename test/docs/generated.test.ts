import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generatedFiles, ROOT } from "../../scripts/docs/generated-files.ts";

test.each(generatedFiles())("$path is what `npm run generate` writes", ({ path, text }) => {
  expect(readFileSync(ROOT + path, "utf8") === text, `${path} is out of date: npm run generate`).toBe(true);
});
