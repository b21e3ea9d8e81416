import bundled from "@sparticuz/chromium";

/** Runs once before all test files: those that start browsers at the same time would unpack it over each other. */
export async function setup(): Promise<void> {
  if (process.platform === "linux" && process.env["GAUNTLET_BROWSER"] === undefined) await bundled.executablePath();
}
