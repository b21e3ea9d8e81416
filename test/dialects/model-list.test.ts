import { expect, test } from "vitest";
import { likeliestFirst } from "../../src/dialects/index.ts";

const ids = (entries: readonly object[]) => likeliestFirst(entries).map((entry) => (entry as { id: string }).id);

test.each([
  [
    "owners take turns, in the order of the list",
    [{ id: "aws/a" }, { id: "aws/b" }, { id: "azure/a" }, { id: "azure/b" }, { id: "openai/a" }],
    ["aws/a", "azure/a", "openai/a", "aws/b", "azure/b"],
  ],
  [
    "what the list calls a chat model comes first, whatever it is named",
    [
      { id: "ada-embed", mode: "embedding" },
      { id: "dall-e-3" },
      { id: "plain" },
      { id: "m", mode: "chat" },
      { id: "mistral", capabilities: { completion_chat: true, vision: false } },
      { id: "other", capabilities: { completion_chat: false, embedding: true } },
      { id: "text-out", architecture: { input_modalities: ["image"], output_modalities: ["text"] } },
      { id: "image-out", architecture: { output_modalities: ["image"] } },
    ],
    ["m", "mistral", "text-out", "plain", "dall-e-3", "ada-embed", "other", "image-out"],
  ],
  [
    "what is no longer served comes last",
    [{ id: "old", active: false, mode: "chat" }, { id: "older", status: "deprecated" }, { id: "new" }],
    ["new", "old", "older"],
  ],
  ["a plain list stays as it is", [{ id: "c" }, { id: "b" }, { id: "a" }], ["c", "b", "a"]],
])("%s", (_, entries, expected) => {
  expect(ids(entries)).toEqual(expected);
});

test("entries that are not models are skipped", () => {
  expect(likeliestFirst([null, 3, "x", { id: 4 }])).toHaveLength(4);
});
