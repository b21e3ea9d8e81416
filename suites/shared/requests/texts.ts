/** Characters of one to four bytes, including joined and combining ones: a cut inside a character shows at once. */
export const MULTIBYTE_TEXT = "Grüße, naïve café — 你好，世界。こんにちは 안녕 Привет שלום 🚀👩‍🚀🏳️‍🌈 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 e\u0301 ₿";

/** What JSON must escape and event streams must not interpret as framing. */
export const SPECIAL_TEXT =
  'quotes " \' and \\ backslash, tab\tline\nblank\n\ndata: [DONE]\n: comment\nevent: x\r\n</script>&amp; {"a":[1,2]} %20 \u2028 \u0001';

/** What filters and line splitters may misinterpret. */
export const MARKUP_TEXT =
  "first this, then\n```js\nlet a = 1;\n```\n&amp; &lt;b&gt; &#39; data: x [DONE] \u2028 \u2029 \u0085 \f \v \r and \r\n end 🚀🚀🚀 𝔘𝔫 ok";

/** Significant white space: runs of spaces, tabs, indented and empty lines. */
export const SPACED_TEXT = "if x:\n    y  =  1\n\n\n\tz =   2\t\t# two  tabs\n        deep\r\n   \nend . of , it";

/** A large output limit that every model accepts: some reject more than they can produce. */
export const AMPLE_TOKENS = 4_096;

/** About 6,000 characters of distinguishable words, so that a missing stretch can be located. */
export const LONG_TEXT = Array.from(
  { length: 700 },
  (_, index) => `word${index}${index % 50 === 49 ? "é漢🚀" : ""}`,
).join(" ");

/** Requests a long text from the long model. */
export const LONG_STORY = "Tell me a long story.";

/** A valid conversation of two turns, and the turn that the model has to reply to. */
export const inTurns = (last: string, first = "one", reply = "two") => [
  { role: "user", content: first },
  { role: "assistant", content: reply },
  { role: "user", content: last },
];
