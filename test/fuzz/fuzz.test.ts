import { describe, test } from "vitest";
import { READERS_OF_FILES } from "./readers-of-files.ts";
import { READERS_OF_RESPONSES } from "./readers-of-responses.ts";

/** Inputs for each reader; `npm run verify adversary` tries many more. */
const FEW = 200;

describe.each([
  ["whatever a gateway sends", READERS_OF_RESPONSES],
  ["any file content", READERS_OF_FILES],
] as const)("%s", (_what, properties) => {
  test.each(properties)("$name", (property) => property.check(Math.ceil(FEW / property.cost)));
});
