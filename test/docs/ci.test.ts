import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { policySchema } from "../../src/policy/index.ts";
import { temporaryFolder } from "../support/gauntlet.ts";

const PAGE = readFileSync(join(ROOT, "docs/ci.md"), "utf8");

function blocks(language: string): string[] {
  return [...PAGE.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , text = ""]) => text);
}

test("every YAML block of the page is YAML, and its policies are policies", () => {
  for (const block of blocks("yaml")) {
    for (const document of parseAllDocuments(block)) expect(document.errors).toEqual([]);
    const value = parse(block);
    if (value.gates !== undefined) expect(policySchema.safeParse(value).error?.issues ?? []).toEqual([]);
  }
});

test("the example policy fits the published schema", () => {
  const schema = JSON.parse(readFileSync(join(ROOT, "schemas/policy.schema.json"), "utf8"));
  const example = parse(readFileSync(join(ROOT, "docs/examples/ci/gauntlet-policy.yaml"), "utf8"));
  const ajv = new Ajv2020({ strict: false });
  expect(ajv.validate(schema, example), ajv.errorsText()).toBe(true);
});

describe("the action", () => {
  test("is a composite action whose inputs reach no script as text", () => {
    const action = parse(readFileSync(join(ROOT, "action.yml"), "utf8"));
    expect(action.runs.using).toBe("composite");
    expect(action.branding).toEqual({ icon: expect.any(String), color: expect.any(String) });
    for (const step of action.runs.steps) expect(step.run ?? "").not.toContain("${{");
  });

  test.each<[what: string, mutation: string[], verdict: string, code: number]>([
    ["a pass", [], "pass", 0],
    ["a failure", ["--mutation", "models.other-field"], "fail", 1],
  ])("%s: exit code, summary, outputs, annotations", (_what, mutation, verdict, code) => {
    using folder = temporaryFolder();
    const [summary, output] = [join(folder.path, "summary"), join(folder.path, "output")];
    for (const file of [summary, output]) writeFileSync(file, "");
    const done = spawnSync("bash", [join(ROOT, "scripts/action.sh")], {
      cwd: folder.path,
      encoding: "utf8",
      env: {
        ...process.env,
        GAUNTLET_TARGET: "embedded",
        GAUNTLET_COMMAND: "conform",
        GAUNTLET_ARGUMENTS: ["models", ...mutation].join("\n"),
        GAUNTLET_OUT: "run",
        GAUNTLET_HISTORY: "history.db",
        GITHUB_ACTIONS: "true",
        GITHUB_SERVER_URL: "https://ci.example",
        GITHUB_REPOSITORY: "o/r",
        GITHUB_RUN_ID: "9",
        GITHUB_STEP_SUMMARY: summary,
        GITHUB_OUTPUT: output,
      },
    });
    expect(done.status).toBe(code);
    expect(readFileSync(output, "utf8")).toBe(`verdict=${verdict}\nreport=run/report.html\ncomment=run/comment.md\n`);
    expect(readFileSync(join(folder.path, "run/comment.md"), "utf8")).toContain(
      "[Report](https://ci.example/o/r/actions/runs/9)",
    );
    expect(readFileSync(summary, "utf8")).toContain("embedded reference gateway");
    expect(done.stdout).toContain("history.db: 1 run imported");
    expect(existsSync(join(folder.path, "run", "trends.html"))).toBe(true);
    const after = done.stdout.slice(done.stdout.lastIndexOf("::gauntlet-"));
    expect(after).toMatch(
      verdict === "pass"
        ? /::notice title=Gauntlet::PASS/
        : /::error title=Gauntlet::FAIL[\s\S]*::error title=fail MODELS-1 in 2 check instances/,
    );
  });
});
