import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Folder, gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

let folder: Folder;
beforeAll(async () => {
  folder = temporaryFolder();
  await gauntlet(["conform", "--only", "service.outside", "--target", "embedded", "--out", "first"], {}, folder.path);
  mkdirSync(join(folder.path, "empty"));
  writeFileSync(join(folder.path, "gauntlet.yaml"), "baseUrl: http://127.0.0.1:1/v1\n");
});
afterAll(() => folder[Symbol.dispose]());

const BOTH = "Name two target files, or the folders of two stored runs.";
const PRINTED = "Name the folder that a run printed.";

describe("a path that leads nowhere: the message names it, and what was probably meant", () => {
  test.each<[args: string, says: string]>([
    ["compare a b", `there is no file or folder "a" or "b"\n  ${BOTH}`],
    ["compare first frist", `there is no file or folder "frist"\n  Did you mean "first"? ${BOTH}`],
    ["compare gauntlt.yaml gauntlet.yaml", `"gauntlt.yaml"\n  Did you mean "gauntlet.yaml"? ${BOTH}`],
    ["compare first empty", `empty is not the folder of a stored run: it has no run.json\n  ${BOTH}`],
    ["compare empty gauntlet.yaml", `empty is not the folder of a stored run: it has no run.json\n  ${BOTH}`],
    ["compare gauntlet.yaml first", `gauntlet.yaml is not the folder of a stored run: it has no run.json\n  ${BOTH}`],
    ["report nope", `there is no folder "nope"\n  ${PRINTED}`],
    ["report frist", `there is no folder "frist"\n  Did you mean "first"? ${PRINTED}`],
    ["report first --base frist", `there is no folder "frist"\n  Did you mean "first"? ${PRINTED}`],
    ["report empty", `empty holds no readable run record: run.json: no such file or folder\n  ${PRINTED}`],
    ["report first/run.json", "first/run.json is a file, not the folder of a run\n  Name its folder: first."],
    ["rejudge frist", 'there is no folder "frist"\n  Did you mean "first"?'],
    ["waivers suggest frist", 'there is no folder "frist"\n  Did you mean "first"?'],
    ["conform --target gauntlt.yaml", 'no such file or folder.\n  Did you mean "gauntlet.yaml"? Name a target file'],
    [
      "load nofile.yaml --target embedded",
      'there is no workload file "nofile.yaml"\n  Built in: starter, growth, scale, own, peak, soak, stress, rolling-restart,',
    ],
    [
      "load --target embedded gauntlt.yaml",
      'there is no workload file "gauntlt.yaml"\n  Did you mean "gauntlet.yaml"? ',
    ],
    ["size nofile.yaml", "To send your own, name a YAML file. See `gauntlet load --help`."],
  ])("%s", async (args, says) => {
    const { code, stdout, stderr } = await gauntlet(args.split(" "), {}, folder.path);
    expect(stderr).toContain(says);
    expect([code, stdout]).toEqual([2, ""]);
  });
});

describe.each([
  ["CI", "true"],
  ["a terminal", ""],
])("report in %s", (_where, ci) => {
  test.each<[args: string[], files: string[]]>([
    [[], ["report.html", "junit.xml", "ctrf.json", "summary.md"]],
    [
      ["--format", "html", "--layout", "folder"],
      ["report/index.html", "report/report.css", "report/report.js"],
    ],
    [["--format", "comment"], ["comment.md"]],
  ])("%j prints the path of each file that it wrote", async (args, files) => {
    const { code, stdout } = await gauntlet(["report", "first", ...args], { CI: ci }, folder.path);
    expect([code, stdout]).toEqual([0, files.map((file) => `${join("first", file)}\n`).join("")]);
  });
});
