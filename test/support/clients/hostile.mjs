// A malicious client: does what its argument says to the scripted gateway, or to whatever reads its output.
import { appendFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";

const base = new URL(process.env.GAUNTLET_BASE_URL);
const key = process.env.GAUNTLET_API_KEY;
const authorization = `Bearer ${key}`;
const socket = () => connect(Number(base.port), base.hostname).on("error", () => {});

const KINDS = {
  /** Lists, with valid and invalid keys, as fast as it can: no call that a scenario responds to. */
  flood: () => {
    const again = () => {
      const sent = request(`${base}/models`, { headers: { authorization } }, (response) => {
        response.resume().on("close", again);
      });
      sent.on("error", again).end();
    };
    for (let lane = 0; lane < 50; lane++) again();
  },
  /** Every request is a different call, so that none has too many attempts. */
  calls: () => {
    let number = 0;
    const again = () => {
      const text = JSON.stringify({ model: "echo-fast", messages: [{ role: "user", content: `call ${number++}` }] });
      const headers = { authorization, "content-type": "application/json" };
      request(`${base}/chat/completions`, { method: "POST", headers }, (response) => {
        response.resume().on("close", again);
      })
        .on("error", again)
        .end(text);
    };
    for (let lane = 0; lane < 50; lane++) again();
  },
  /** A body without end. */
  body: () => {
    const headers = { authorization, "content-type": "application/json", "transfer-encoding": "chunked" };
    const sent = request(`${base}/chat/completions`, { method: "POST", headers });
    const piece = Buffer.alloc(1 << 20, "x");
    const more = () => {
      while (sent.write(piece));
      sent.once("drain", more);
    };
    sent.on("error", () => {});
    more();
  },
  /** Many bodies of the maximum accepted size, each as a separate call. */
  bodies: () => {
    const filling = "x".repeat(12 << 20);
    const again = (number) => {
      const text = JSON.stringify({
        model: "echo-fast",
        messages: [{ role: "user", content: `${number} ${filling}` }],
      });
      const headers = { authorization, "content-type": "application/json" };
      request(`${base}/chat/completions`, { method: "POST", headers }, (response) => {
        response.resume().on("close", () => again(number + 1));
      })
        .on("error", () => {})
        .end(text);
    };
    again(0);
  },
  /** Bytes that are not HTTP, endless heads, endless requests. */
  garbage: () => {
    for (let lane = 0; lane < 200; lane++) {
      const open = socket();
      open.on("connect", () => {
        if (lane % 3 === 0) open.write(Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 0xff, 0, 0x0a]));
        else if (lane % 3 === 1)
          open.write(`POST ${base.pathname}/chat/completions HTTP/1.1\r\nx: ${"y".repeat(9_000)}\r\n`);
        else
          open.write(
            `POST ${base.pathname}/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 999999999\r\n\r\n{`,
          );
      });
    }
  },
  /** More connections than anyone needs, all of them idle. */
  connections: () => {
    for (let lane = 0; lane < 3_000; lane++) socket();
  },
  /** Endless output that contains the key and escape sequences. */
  output: () => {
    const text = `\u001b]0;title\u0007\u001b[2J${key} ${"z".repeat(1 << 16)}\n`;
    const more = (stream) => {
      while (stream.write(text));
      stream.once("drain", () => more(stream));
    };
    more(process.stdout);
    more(process.stderr);
  },
  /** Ignores the request to stop, and leaves a child behind that holds the pipes. */
  stays: async () => {
    process.on("SIGTERM", () => {});
    const { spawn } = await import("node:child_process");
    spawn(process.execPath, ["-e", "setTimeout(() => {}, 20_000)"], { stdio: "inherit", detached: true }).unref();
  },
  /** A valid call whose text is full of what reports must not interpret. */
  markup: () => {
    const content = `</script><script>alert(1)</script>\u202e::error::\u0000${"<b>".repeat(1_000)}`;
    const headers = {
      authorization,
      "content-type": "application/json",
      "user-agent": "<img src=x onerror=alert(1)> ::set-output name=x::y",
      "idempotency-key": `${key}${key}`,
    };
    const text = JSON.stringify({ model: process.env.GAUNTLET_MODEL, messages: [{ role: "user", content }] });
    request(`${base}/chat/completions`, { method: "POST", headers }, (response) => {
      response.resume().on("close", () => process.exit(0));
    })
      .on("error", () => process.exit(1))
      .end(text);
  },
};

// So that the test knows what must not appear anywhere else.
appendFileSync(process.env.KEYS_FILE, `${key}\n`);
await KINDS[process.argv[2]]();
setInterval(() => {}, 1_000);
