import { expect, test } from "vitest";
import { sideNames } from "../../src/commands/compare/side-names.ts";

test.each([
  ["files", { path: "old.yaml" }, { path: "b/new.yaml" }, "old", "new"],
  ["files of the same name", { path: "a/t.yaml" }, { path: "b/t.yaml" }, "a/t.yaml", "b/t.yaml"],
  ["one file, two commands", { path: "t.yaml", start: "./old" }, { path: "t.yaml", start: "./new" }, "./old", "./new"],
  ["the number of an option", { start: "g --pace 1 --b 2" }, { start: "g --pace 3 --b 2" }, "pace 1", "pace 3"],
  ["the value of an option", { start: "g --mutation a.b" }, { start: "g --mutation c.d" }, "a.b", "c.d"],
  ["several words that differ", { start: "g --a 1" }, { start: "g --a 3 --mutation m" }, "A", "B"],
  ["long names", { path: "2026-11-24T12-58-52-000-staging" }, { path: "2026-11-25T12-58-52-000-staging" }, "A", "B"],
  ["an added option", { start: "g --a" }, { start: "g --a --b" }, "plain", "--b"],
  ["an added value", { start: "g" }, { start: "g --mutation a.b" }, "plain", "a.b"],
  ["an added option, in the first command", { start: "g --mutation a.b -p 1" }, { start: "g -p 1" }, "a.b", "plain"],
  ["an added number: it says nothing alone", { start: "g" }, { start: "g --pace 20" }, "plain", "pace 20"],
  ["a second value of the same option", { start: "g -m a" }, { start: "g -m a -m b" }, "plain", "b"],
  ["several added options", { start: "g" }, { start: "g -m a -m b" }, "A", "B"],
  ["a file and a command", { path: "t.yaml" }, { start: "./new" }, "t", "./new"],
  ["the same", { path: "t.yaml" }, { path: "t.yaml" }, "A", "B"],
])("names of the sides: %s", (_what, one, other, a, b) => expect(sideNames(one, other)).toEqual({ a, b }));
