import { expect, test } from "vitest";
import { SDK_REQUESTS } from "../../suites/shared/requests/sdk-headers.ts";
import { conformTo, httpServer, targetOf } from "../support/judge.ts";

const named = (headers: readonly (readonly [string, string])[], name: string) =>
  headers.find(([header]) => header.toLowerCase() === name)?.[1];

test("recordings exist for every SDK, and contain no credential", () => {
  expect(SDK_REQUESTS.map(({ name }) => name).sort()).toEqual([
    "anthropic-node",
    "anthropic-python",
    "openai-node",
    "openai-python",
  ]);
  for (const { sdk, headers } of SDK_REQUESTS) {
    const version = sdk.split(" ")[1] ?? "none";
    for (const list of Object.values(headers)) {
      expect(named(list, "user-agent")).toContain(version);
      expect(named(list, "accept")).toBe("application/json");
      const own = ["authorization", "x-api-key", "host", "content-length", "anthropic-version"];
      expect(own.filter((name) => named(list, name) !== undefined)).toEqual([]);
    }
  }
});

test("the requests have the headers of the SDK, the target's key and version, and what the target fixes", async () => {
  const seen: (readonly [string, string])[][] = [];
  await using server = await httpServer((request, _, response) => {
    const { rawHeaders } = request;
    const pairs = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ""] as const] : []));
    if (request.url === "/v1/models") seen.push(pairs);
    response.setHeader("content-type", "application/json");
    response.end('{"object":"list","data":[{"id":"plain"}]}');
  });
  const more =
    'headers: { version: anthropic-version, versionValue: "2023-06-01" }\nextraHeaders: { all: { X-Stainless-OS: fixed } }';
  const only = ["models.as-sdks-send[anthropic-python]"];
  const results = await conformTo(targetOf(server.baseUrl, more), { only });
  expect(results).toMatchObject([{ status: "pass" }]);
  const sent = seen.find((headers) => named(headers, "user-agent")?.startsWith("Anthropic/Python"));
  expect(sent).toBeDefined();
  const recorded = SDK_REQUESTS.find(({ name }) => name === "anthropic-python")?.headers.models ?? [];
  for (const [name, value] of recorded)
    expect([name, named(sent ?? [], name.toLowerCase())]).toEqual([name, name === "X-Stainless-OS" ? "fixed" : value]);
  expect(named(sent ?? [], "authorization")).toMatch(/^Bearer sk-test-valid-/);
  expect(named(sent ?? [], "anthropic-version")).toBe("2023-06-01");
});
