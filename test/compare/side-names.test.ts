import { expect, test } from "vitest";
import { sideNames } from "../../src/commands/compare/side-names.ts";

test.each([
  ["files", { path: "old.yaml" }, { path: "b/new.yaml" }, "old", "new"],
  ["files of the same name", { path: "a/t.yaml" }, { path: "b/t.yaml" }, "a/t.yaml", "b/t.yaml"],
  ["one file, two commands", { path: "t.yaml", start: "./old" }, { path: "t.yaml", start: "./new" }, "./old", "./new"],
  ["an option that differs", { start: "g --a 1 --b 2" }, { start: "g --a 3 --b 2" }, "--a 1", "--a 3"],
  ["an added option", { start: "g --a" }, { start: "g --a --b" }, "--a", "--a --b"],
  ["a file and a command", { path: "t.yaml" }, { start: "./new" }, "t", "./new"],
  ["the same", { path: "t.yaml" }, { path: "t.yaml" }, "A", "B"],
])("names of the sides: %s", (_what, one, other, a, b) => expect(sideNames(one, other)).toEqual({ a, b }));
