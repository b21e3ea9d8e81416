import type { RunVerdict } from "../../src/record/index.ts";
import { visible } from "../clean-text.ts";
import { VERDICT_TONES } from "../status-style.ts";
import { Document, type Head, Masthead } from "./document.tsx";
import { Shape } from "./sections/verdict.tsx";

/** The result of a command that writes no record. */
export interface ResultPageSource {
  /** Name of the command: `capacity`. */
  readonly command: string;
  readonly result: RunVerdict["result"];
  /** When it ended, as in a record. */
  readonly endedAt: string;
  /** What the command prints. */
  readonly text: string;
}

/** What a command printed, with its verdict. */
export function ResultPage({ source, head }: { readonly source: ResultPageSource; readonly head: Head }) {
  const { command, result, endedAt, text } = source;
  const tone = VERDICT_TONES[result];
  return (
    <Document title={`${result}: ${command}`} head={head}>
      <Masthead what={command}>{endedAt}</Masthead>
      <div class="frame">
        <main id="main">
          <section id="verdict" class={`verdict ${tone}`} aria-labelledby="verdict-title">
            <div class="headline">
              <Shape tone={tone} result={result} />
              <h1 id="verdict-title">
                <span class="result">{`${result.charAt(0).toUpperCase()}${result.slice(1)}`}</span>
              </h1>
            </div>
          </section>
          <section aria-labelledby="output-title">
            <h2 id="output-title">Output</h2>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable without a mouse */}
            <pre class="listing" tabIndex={0}>
              {visible(text)}
            </pre>
          </section>
        </main>
      </div>
    </Document>
  );
}
