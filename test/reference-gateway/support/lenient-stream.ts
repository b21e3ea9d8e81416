/** The data of a stream in any framing: event streams with any line ends, lines of JSON, or bare documents. */
export function dataOf(text: string): string[] {
  const plain = text.replace(/^\ufeff/, "");
  if (!/^(data|event|id|retry|:|trace)/m.test(plain)) return documents(plain);
  return plain.split(/(?:\r\n\r\n|\n\n|\r\r)+/).flatMap((block) => {
    const lines = block.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data"));
    return lines.length === 0 ? [] : [lines.map((line) => line.replace(/^data:? ?/, "")).join("\n")];
  });
}

/** JSON documents separated by white space. */
function documents(text: string): string[] {
  const found: string[] = [];
  let held = "";
  for (const line of text.split("\n")) {
    held += `${line}\n`;
    try {
      JSON.parse(held);
    } catch {
      continue;
    }
    found.push(held.trim());
    held = "";
  }
  return found;
}

/** The text of a streamed or non-streaming reply of either dialect. */
export function anyText(body: string): string {
  return dataOf(body)
    .filter((data) => data !== "[DONE]")
    .map((data) => incrementOf(JSON.parse(data)))
    .join("");
}

// biome-ignore lint/suspicious/noExplicitAny: either dialect's event or reply
function incrementOf(data: any): string {
  const blocks = Array.isArray(data.content)
    ? data.content.filter((block: { type?: string }) => block.type !== "thinking")
    : [];
  const whole =
    data.choices?.[0]?.message?.content ?? blocks.map((block: { text?: string }) => block.text ?? "").join("");
  return data.choices?.[0]?.delta?.content ?? data.delta?.text ?? whole ?? "";
}
