/** A CI job that `gauntlet init` writes and docs/ci.md shows. */
export interface CiJob {
  /** Relative to the project folder. */
  readonly path: string;
  readonly text: string;
}

/** By path: a bare name could resolve to another author's package of that name. */
const RUN = "./node_modules/.bin/gauntlet run --target gauntlet.yaml --policy gauntlet-policy.yaml --out gauntlet-run";
/** Keeps the figures of the run for years, in a file that CI passes from job to job. */
const KEEP = "./node_modules/.bin/gauntlet history gauntlet-run --html gauntlet-run/trends.html";
const INSTALL = "npm ci --include=dev --ignore-scripts --no-audit --no-fund";

const NEEDS = `# Needs the tarball of Gauntlet, package.json and package-lock.json in the repository, as left by
#   npm install --save-dev ./tools/gateway-gauntlet-*.tgz
# Never install Gauntlet by its name: it is not published, and anybody could publish something under the name.`;

const GITHUB = `${NEEDS}
name: gauntlet
on: [workflow_dispatch, pull_request]
permissions: { contents: read }
jobs:
  gauntlet:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v6
        with: { node-version: 22 }
      - run: ${INSTALL}
      - run: ${RUN}
        env:
          GW_KEY: \${{ secrets.GW_KEY }}
      - uses: actions/cache/restore@v5
        if: always()
        with: { path: gauntlet-history.db, key: "gauntlet-history-\${{ github.run_id }}", restore-keys: gauntlet-history- }
      - run: ${KEEP}
        if: always()
      - uses: actions/cache/save@v5
        if: always()
        with: { path: gauntlet-history.db, key: "gauntlet-history-\${{ github.run_id }}" }
      - uses: actions/upload-artifact@v6
        if: always()
        with: { name: gauntlet-run, path: gauntlet-run }
`;

const GITLAB = `# Include from .gitlab-ci.yml; GW_KEY is a masked variable of the project.
${NEEDS}
gauntlet:
  image: node:22
  script:
    - ${INSTALL}
    - ${RUN}
  after_script:
    - ${KEEP}
  cache: { key: gauntlet-history, paths: [gauntlet-history.db], when: always }
  artifacts:
    when: always
    paths: [gauntlet-run]
    reports: { junit: gauntlet-run/junit.xml }
`;

/** What `gauntlet init --ci` can write. */
export const CI_JOBS = {
  github: { path: ".github/workflows/gauntlet.yaml", text: GITHUB },
  gitlab: { path: "gauntlet.gitlab-ci.yaml", text: GITLAB },
} as const satisfies Readonly<Record<string, CiJob>>;
