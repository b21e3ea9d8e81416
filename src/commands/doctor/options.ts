import { colorsFor, defineCommand, fitted, flag, json, showProgress, text } from "../../terminal/index.ts";

/** `gauntlet doctor`: checks a target file, the gateway and this machine before a run. */
export const doctorCommand = defineCommand({
  command: "doctor",
  describe: "Check a target file, the gateway and this machine before a run",
  examples: [
    ["gauntlet doctor", "checks gauntlet.yaml"],
    ["gauntlet doctor --target staging.yaml --json", "another file, as JSON"],
  ],
  builder: (yargs) =>
    yargs.options({
      target: { ...text("target file"), default: "gauntlet.yaml" },
      propose: flag(
        "print a target file derived from the gateway's responses, with the evidence; sends about 40 requests, plus those that reach the limits of accounts under limited",
      ),
      out: { ...text("file to write the proposal to"), implies: "propose" },
      json,
    }),
  run: async (argv) => {
    using progress = showProgress(process.stderr, { quiet: argv.json });
    if (argv.propose) {
      const { proposeFile } = await import("./propose-file.ts");
      return await proposeFile(argv.target, argv.out, progress.onProgress);
    }
    const { doctor } = await import("./run.ts");
    const { symptomText } = await import("./symptom.ts");
    const colors = colorsFor(process.stdout);
    return await doctor(argv.target, {
      onProgress: progress.onProgress,
      onSymptom: (symptom) => {
        if (argv.json) return;
        progress.clear();
        process.stdout.write(fitted(symptomText(symptom, colors), process.stdout));
      },
    });
  },
});
