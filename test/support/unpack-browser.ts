import bundled from "@sparticuz/chromium";

/** Runs once before all test files: those that start browsers concurrently would overwrite each other's copy. */
export async function setup(): Promise<void> {
  if (process.platform === "linux" && process.env["GAUNTLET_BROWSER"] === undefined) await bundled.executablePath();
}
