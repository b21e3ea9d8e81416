import { capitalized } from "../../src/core/index.ts";
import type { RunVerdict } from "../../src/record/index.ts";
import { visible } from "../clean-text.ts";
import { VERDICT_TONES } from "../status-style.ts";
import { Document, type Head, Masthead } from "./document.tsx";
import { Prose } from "./parts.tsx";
import { Shape } from "./sections/verdict.tsx";

/** The result of a command that writes no record. */
export interface ResultPageSource {
  /** Name of the command: `capacity`. */
  readonly command: string;
  /** The verdict, or a prediction, which has no verdict. */
  readonly conclusion: { readonly result: RunVerdict["result"] } | { readonly prediction: string };
  /** What decided the verdict, or what belongs to the prediction; one sentence or more on each line. */
  readonly sentence: string;
  /** When it ended, as in a record. */
  readonly endedAt: string;
  /** What the command prints above its conclusion. */
  readonly body: string;
}

/** What a command printed, with its conclusion first. */
export function ResultPage({ source, head }: { readonly source: ResultPageSource; readonly head: Head }) {
  const { command, conclusion, sentence, endedAt, body } = source;
  const result = "result" in conclusion ? conclusion.result : undefined;
  const headline = capitalized("result" in conclusion ? conclusion.result : conclusion.prediction);
  const tone = result && VERDICT_TONES[result];
  const lines = sentence.split("\n").flatMap((line) => capitalized(line.trim()) || []);
  return (
    <Document title={`${headline}: ${command}`} head={head}>
      <Masthead what={command}>{endedAt}</Masthead>
      <div class="frame whole">
        <main id="main">
          <section
            id="verdict"
            class={tone === undefined ? "verdict" : `verdict ${tone}`}
            aria-labelledby="verdict-title"
          >
            <div class="headline">
              {result && tone ? <Shape tone={tone} result={result} /> : null}
              <div>
                <h1 id="verdict-title">
                  <span class="result">{visible(headline)}</span>
                </h1>
                {lines.map((line) => (
                  <p key={line} class="lead">
                    <Prose text={line} />
                  </p>
                ))}
              </div>
            </div>
          </section>
          <section aria-labelledby="output-title">
            <h2 id="output-title">Output</h2>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable without a mouse */}
            <pre class="listing output" tabIndex={0}>
              {visible(body)}
            </pre>
          </section>
        </main>
      </div>
    </Document>
  );
}
