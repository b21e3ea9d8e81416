/** Characters of one to four bytes, joined and combining ones among them: what is cut at a byte shows at once. */
export const MULTIBYTE_TEXT = "Grüße, naïve café — 你好，世界。こんにちは 안녕 Привет שלום 🚀👩‍🚀🏳️‍🌈 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 e\u0301 ₿";

/** What JSON must escape and event streams must not take for framing. */
export const SPECIAL_TEXT =
  'quotes " \' and \\ backslash, tab\tline\nblank\n\ndata: [DONE]\n: comment\nevent: x\r\n</script>&amp; {"a":[1,2]} %20 \u2028 \u0001';

/** What filters and line splitters take for something of their own. */
export const MARKUP_TEXT =
  "first this, then\n```js\nlet a = 1;\n```\n&amp; &lt;b&gt; &#39; data: x [DONE] \u2028 \u2029 \u0085 \f \v \r and \r\n end 🚀🚀🚀 𝔘𝔫 ok";

/** Spaces that mean something: runs of them, tabs, indented and empty lines. */
export const SPACED_TEXT = "if x:\n    y  =  1\n\n\n\tz =   2\t\t# two  tabs\n        deep\r\n   \nend . of , it";

/** A large output limit that every model allows: some refuse more than they can produce. */
export const AMPLE_TOKENS = 4_096;

/** About 6,000 characters in words that can be told apart, so that a lost stretch shows where it was. */
export const LONG_TEXT = Array.from(
  { length: 700 },
  (_, index) => `word${index}${index % 50 === 49 ? "é漢🚀" : ""}`,
).join(" ");

/** Asks the long model for what takes it a while to tell. */
export const LONG_STORY = "Tell me a long story.";

/** A conversation of two turns that everybody follows, and the turn to be answered. */
export const inTurns = (last: string, first = "one", reply = "two") => [
  { role: "user", content: first },
  { role: "assistant", content: reply },
  { role: "user", content: last },
];
