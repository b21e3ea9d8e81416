// Stores V8's code cache of the bundle in a file that exactly this Node loads at the next start (src/program.ts). Only functions
// that ran are kept compiled, so a few commands run here. A cache of the whole bundle would be twice as large and take longer to
// read than it saves.
import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";

const built = join(dirname(dirname(fileURLToPath(import.meta.url))), "dist", "src");
const { readBundle, runProgram, scriptOf } = await import(pathToFileURL(join(built, "program.js")).href);

// Otherwise V8 discards the code of functions that ran and are idle.
setFlagsFromString("--no-flush-bytecode");
const bundle = readBundle(join(built, "bundle", "cli.cjs"));
const script = scriptOf(bundle);
const { main } = runProgram(script, bundle.path);

const folder = mkdtempSync(join(tmpdir(), "gauntlet-compile-"));
const server = createServer(respond).listen(0, "127.0.0.1");
try {
  await once(server, "listening");
  process.env.GAUNTLET_COMPILE_KEY = "sk-compile-0123456789";
  const target = write("target.yaml", {
    baseUrl: `http://127.0.0.1:${server.address().port}/v1`,
    keys: { valid: "env:GAUNTLET_COMPILE_KEY" },
    models: { chat: "m", messages: "m" },
  });
  const workload = write("workload.yaml", {
    name: "compile",
    arrivals: { kind: "constant", ratePerS: 200, durationS: 0.2 },
    mix: ["chat", "messages"].flatMap((dialect) => [{ dialect }, { dialect, stream: true }]),
  });
  await main(["gateway", "--list-mutations"]);
  await main(["conform", "models", "--target", target, "--dry-run"]);
  await main(["load", workload, "--target", target, "--out", join(folder, "run")]);
} finally {
  server.close();
  rmSync(folder, { recursive: true, force: true });
}

// V8 only accepts a cache under the flags that it was created with.
setFlagsFromString("--flush-bytecode");
// If the program is started meanwhile, it sees a complete file or none.
const partial = `${bundle.compiledPath}.${process.pid}`;
writeFileSync(partial, script.createCachedData());
renameSync(partial, bundle.compiledPath);

function write(name, content) {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

/** The results of these runs do not matter: replies only have to be read. */
function respond(request, response) {
  const isChat = request.url.endsWith("/chat/completions");
  let body = "";
  request.setEncoding("utf8").on("data", (part) => {
    body += part;
  });
  request.on("end", () => {
    const usage = isChat
      ? { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
      : { input_tokens: 1, output_tokens: 1 };
    if (!body.includes('"stream":true')) {
      const reply = isChat
        ? { choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }] }
        : { type: "message", role: "assistant", content: [{ type: "text", text: "ok" }], stop_reason: "end_turn" };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ ...reply, usage }));
      return;
    }
    const events = isChat
      ? [{ choices: [{ index: 0, delta: { content: "ok" }, finish_reason: "stop" }], usage }]
      : [
          { type: "message_start", message: { role: "assistant", content: [], usage } },
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ok" } },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
          { type: "message_stop" },
        ];
    response.setHeader("content-type", "text/event-stream");
    for (const event of events)
      response.write(`${isChat ? "" : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`);
    response.end(isChat ? "data: [DONE]\n\n" : "");
  });
}
