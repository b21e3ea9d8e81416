import { expect, test } from "vitest";
import { complaints } from "../../scripts/verify/judge/evaluate.ts";
import type { Judgement } from "../../scripts/verify/judge/judgement.ts";

const judgement = (status: "warn" | "fail"): Judgement => ({
  kind: "mutations",
  name: "messages.system-dropped",
  ms: 1,
  requests: 1,
  bad: [
    {
      id: "messages.system-applied[non-streaming,one-turn]",
      status,
      requirements: ["MSG-7"],
      message: "",
      findings: [],
    },
  ],
});

test("a mutation that violates a MUST but only causes a warning is a complaint", () => {
  expect(complaints(judgement("warn"))).toEqual([
    "messages.system-dropped: breaks MSG-7: expected a failure, got only a warning",
  ]);
  expect(complaints(judgement("fail"))).toEqual([]);
});

test("a mutation fails exactly the profiles that require what it breaks", () => {
  const of = (...failedProfiles: string[]) => complaints({ ...judgement("fail"), failedProfiles });
  expect(of("messages", "anthropic-sdk")).toEqual([]);
  expect(of("anthropic-sdk")).toEqual([
    "messages.system-dropped: breaks a requirement of the profile messages, but messages does not fail",
  ]);
  const refusedWith403: Judgement = {
    ...judgement("fail"),
    name: "auth.missing-key-403",
    bad: [{ id: "auth.missing-key[chat]", status: "fail", requirements: ["AUTH-2"], message: "", findings: [] }],
  };
  expect(complaints({ ...refusedWith403, failedProfiles: ["models-and-auth", "streaming"] })).toEqual([
    "auth.missing-key-403: breaks no requirement of the profile streaming, but streaming fails",
  ]);
});
