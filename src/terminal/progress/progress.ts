import type { OnProgress, ProgressEvent } from "../../run/control/index.ts";
import { colorsFor } from "../colors.ts";
import { Board } from "./board.ts";
import { wrap } from "./fit.ts";
import { LiveArea } from "./live-area.ts";
import { plainProgress } from "./plain.ts";

interface Progress extends Disposable {
  readonly onProgress: OnProgress;
  /** Makes room for other output; the progress reappears below it. */
  clear(): void;
}

/** Redraw interval, ms: a clock that jumps by more than a second looks broken. */
const DRAW_EVERY_MS = 250;

/** Progress on a stream: lines updated in place on a terminal, plain lines otherwise, only notices when quiet. */
export function showProgress(stream: NodeJS.WriteStream, { quiet }: { readonly quiet: boolean }): Progress {
  if (!quiet && stream.isTTY) return onTerminal(stream);
  const plain = plainProgress((text) => stream.write(text));
  return {
    onProgress(event) {
      if (!quiet || event.kind === "notice") plain(event);
    },
    clear() {},
    [Symbol.dispose]() {},
  };
}

function onTerminal(stream: NodeJS.WriteStream): Progress {
  const board = new Board();
  const area = new LiveArea(stream);
  // A terminal of unknown size reports 0.
  const columns = () => stream.columns || 80;
  // The last row stays free: writing to it would scroll the terminal.
  const draw = () =>
    area.draw(board.lines({ columns: columns() - 1, rows: (stream.rows || 24) - 1 }, performance.now()));
  const drawing = setInterval(draw, DRAW_EVERY_MS);
  drawing.unref();
  return {
    onProgress(event) {
      board.take(event, performance.now());
      const text = spoken(event, stream, columns());
      if (text !== undefined) area.above(text);
    },
    clear: () => area.clear(),
    [Symbol.dispose]() {
      clearInterval(drawing);
      area.clear();
    },
  };
}

/** Messages that are printed once and stay on the screen. */
function spoken(event: ProgressEvent, stream: NodeJS.WriteStream, columns: number): string | undefined {
  const { red, green, yellow } = colorsFor(stream);
  switch (event.kind) {
    case "note":
    case "notice":
      return wrap(`gauntlet: ${event.text}`, columns, "  ");
    case "suite": {
      const paint = { PASS: green, FAIL: red, ERROR: red, INCONCLUSIVE: yellow }[event.verdict];
      return paint(wrap(`gauntlet: ${event.text}`, columns, "  "));
    }
    case "cause":
      return red(wrap(`✗ ${event.text}`, columns, "    "));
    default:
      return undefined;
  }
}
