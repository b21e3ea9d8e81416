/** A CI job that `gauntlet init` writes and docs/ci.md shows. */
export interface CiJob {
  /** Relative to the project folder. */
  readonly path: string;
  readonly text: string;
  /** What the user still has to do in the CI service, a sentence each. */
  readonly setUp: readonly string[];
}

/** The branch in the texts below whose runs are the base of comparisons. */
const MAIN_BRANCH = "main";

/** The same job for a repository whose default branch has another name. */
export function jobForBranch({ path, text, setUp }: CiJob, branch: string): CiJob {
  const renamed = (some: string) => some.replace(`branches: [${MAIN_BRANCH}]`, `branches: [${JSON.stringify(branch)}]`);
  return {
    path,
    text: branch === MAIN_BRANCH ? text : renamed(text),
    setUp: setUp.map((sentence) =>
      sentence.replace(`each push to ${MAIN_BRANCH} `, `each push to ${branch} `).replace(IF_DIFFERENT, ""),
    ),
  };
}

/** For a repository whose default branch is not known. */
const IF_DIFFERENT = " If your default branch has a different name, change the branch in the workflow.";

/** By path: a bare name could resolve to another author's package of that name. */
const PROGRAM = "./node_modules/.bin/gauntlet";
const RUN = `${PROGRAM} run --target gauntlet.yaml --policy gauntlet-policy.yaml --out gauntlet-run`;
/** Keeps the figures of the run for years, in a file that CI passes from job to job. */
const KEEP = `${PROGRAM} history gauntlet-run`;
const KEEP_AND_SHOW = `${KEEP} --html gauntlet-run/trends.html`;
/** Keeps the run for the comments on pull requests; a job that ended without a run keeps the earlier one. */
const KEEP_BASE = "if test -f gauntlet-run/run.json; then rm -rf base-run && cp -r gauntlet-run base-run; fi";
const INSTALL = "npm ci --include=dev --ignore-scripts --no-audit --no-fund";
/** The maintained line of Node that the jobs use. */
const NODE = 24;

const NEEDS = [
  "Needs the tarball of Gauntlet, package.json and package-lock.json in the repository, as left by",
  "  npm install --save-dev ./tools/gateway-gauntlet-*.tgz",
  "Never install Gauntlet by its name: it is not published, and anyone could publish a package under that name.",
];
const needs = (mark: "#" | "//") => NEEDS.map((line) => `${mark} ${line}`).join("\n");

/** Actions by commit: a tag can be moved to other code. The commits are those of the tags. */
const ACTIONS = {
  checkout: "actions/checkout@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09 # v5.1.0",
  setupNode: "actions/setup-node@249970729cb0ef3589644e2896645e5dc5ba9c38 # v6.5.0",
  restore: "actions/cache/restore@27d5ce7f107fe9357f9df03efb73ab90386fccae # v5.0.5",
  save: "actions/cache/save@27d5ce7f107fe9357f9df03efb73ab90386fccae # v5.0.5",
  upload: "actions/upload-artifact@b7c566a772e6b6bfb58ed0dc250532a479d7789f # v6.0.0",
};

const indented = (text: string, spaces: number) => text.trim().replace(/^(?=.)/gm, " ".repeat(spaces));

/** Writes comment.md, next to the figures of the base run if there is one. */
const writeComment = (reportUrl: string) => `base=$(test -f base-run/run.json && echo --base base-run || true)
${PROGRAM} report gauntlet-run --format comment $base --report-url "${reportUrl}"
`;

/** Creates the comment, or replaces the one that begins with the same marker. */
const POST_TO_GITHUB = `comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments"
marker=$(head -1 gauntlet-run/comment.md)
id=$(gh api "$comments" --paginate --jq ".[] | select(.body | startswith(\\"$marker\\")) | .id" | head -1)
if [ -n "$id" ]; then
  gh api --silent -X PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" -F body=@gauntlet-run/comment.md
else
  gh api --silent "$comments" -F body=@gauntlet-run/comment.md
fi
`;

const POST_TO_GITLAB = `notes="$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"
marker=$(head -1 gauntlet-run/comment.md)
find="const notes = JSON.parse(fs.readFileSync(0)); const own = notes.find(({ body }) => body.startsWith(process.argv[1])); process.stdout.write(String(own?.id ?? (notes.length < 100 ? '' : 'next')))"
page=0
id=next
while [ "$id" = next ]; do
  page=$((page + 1))
  id=$(curl -sf -H "PRIVATE-TOKEN: $GAUNTLET_TOKEN" "$notes?per_page=100&page=$page" | node -e "$find" "$marker")
done
if [ -n "$id" ]; then method=PUT; else method=POST; fi
curl -sf -o /dev/null -X "$method" -H "PRIVATE-TOKEN: $GAUNTLET_TOKEN" --data-urlencode body@gauntlet-run/comment.md "$notes\${id:+/$id}"
`;

/** Skips the steps that read the run folder if, for example, the installation failed. */
const HAS_RUN = "hashFiles('gauntlet-run/**') != ''";

/** A workflow of one job. `run` are its steps between restoring and keeping what passes from job to job. */
const githubWorkflow = (run: string, comment: string) => `name: gauntlet
on:
  workflow_dispatch:
  pull_request:
  push: { branches: [${MAIN_BRANCH}] } # its run is the base of the comparison in pull requests
permissions: { contents: read, pull-requests: write }
# Concurrent runs would share the account's limits and distort each other's measurements. Of several waiting runs, GitHub keeps
# only the newest and cancels the others. If each job starts its own gateway or has its own account, use one group per branch:
# group: "gauntlet-\${{ github.head_ref || github.ref_name }}"
concurrency: { group: gauntlet, cancel-in-progress: false }
jobs:
  gauntlet:
    # Pull requests from forks and Dependabot get no secrets.
    if: >-
      github.event_name != 'pull_request' || (github.actor != 'dependabot[bot]' &&
      github.event.pull_request.head.repo.full_name == github.repository)
    runs-on: ubuntu-latest
    timeout-minutes: 60
    steps:
      - uses: ${ACTIONS.checkout}
      - uses: ${ACTIONS.restore}
        with: { path: gauntlet-history.db, key: "gauntlet-history-\${{ github.run_id }}-\${{ github.run_attempt }}", restore-keys: gauntlet-history- }
      - uses: ${ACTIONS.restore}
        with: { path: base-run, key: "gauntlet-base-\${{ github.run_id }}-\${{ github.run_attempt }}", restore-keys: gauntlet-base- }
${indented(run, 6)}
      - name: Comment on the pull request
        if: always() && github.event_name == 'pull_request' && ${HAS_RUN}
        env:
          GH_TOKEN: \${{ github.token }}
          PULL_REQUEST: \${{ github.event.number }}
        run: |
${indented(comment, 10)}
      - name: Keep the run as the base for pull requests
        if: always() && github.event_name == 'push'
        run: ${KEEP_BASE}
      - uses: ${ACTIONS.save}
        if: always() && github.event_name == 'push'
        with: { path: base-run, key: "gauntlet-base-\${{ github.run_id }}-\${{ github.run_attempt }}" }
      - uses: ${ACTIONS.save}
        if: always()
        with: { path: gauntlet-history.db, key: "gauntlet-history-\${{ github.run_id }}-\${{ github.run_attempt }}" }
      - uses: ${ACTIONS.upload}
        if: always()
        with: { name: gauntlet-run, path: gauntlet-run }
`;

const GITHUB = `${needs("#")}
${githubWorkflow(
  `- uses: ${ACTIONS.setupNode}
  with: { node-version: ${NODE} }
- name: Install Gauntlet
  run: ${INSTALL}
# If this commit's gateway is not already running, start it here and wait until it responds.
- name: Run Gauntlet
  run: ${RUN}
  env:
    GW_KEY: \${{ secrets.GW_KEY }}
- name: Add the run to the history
  if: always() && ${HAS_RUN}
  run: ${KEEP_AND_SHOW}`,
  writeComment("$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID") + POST_TO_GITHUB,
)}`;

/** The workflow that uses the action of a repository; the action writes the comment. */
export const actionWorkflow = (repository: string): string => `# .github/workflows/gauntlet.yaml
${githubWorkflow(
  `- uses: ${repository}@COMMIT # replace OWNER/REPOSITORY and COMMIT
  with:
    target: gauntlet.yaml
    policy: gauntlet-policy.yaml
    history: gauntlet-history.db
    base: base-run
  env:
    GW_KEY: \${{ secrets.GW_KEY }}`,
  POST_TO_GITHUB,
)}`;

const GITLAB = `# Include from .gitlab-ci.yml. Variables of the project: GW_KEY, and for the comment on merge requests GAUNTLET_TOKEN.
${needs("#")}
gauntlet:
  image: node:${NODE}
  timeout: 60 minutes
  resource_group: gauntlet # concurrent runs would share the account's limits
  rules:
    - if: $CI_MERGE_REQUEST_IID
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH # its run is the base of the comparison in merge requests
  script:
    - ${INSTALL}
    # If this commit's gateway is not already running, start it here and wait until it responds.
    - ${RUN}
  after_script:
    - ${KEEP_AND_SHOW}
    - |
      if [ -z "$CI_MERGE_REQUEST_IID" ]; then ${KEEP_BASE}; exit; fi
      if [ -z "$GAUNTLET_TOKEN" ]; then exit; fi
${indented(writeComment("$CI_JOB_URL/artifacts/browse") + POST_TO_GITLAB, 6)}
  cache:
    - { key: gauntlet-history, paths: [gauntlet-history.db], when: always }
    - { key: gauntlet-base, paths: [base-run], when: always, unprotect: true }
  artifacts:
    when: always
    paths: [gauntlet-run]
    reports: { junit: gauntlet-run/junit.xml }
`;

const JENKINS = `${needs("//")}
pipeline {
  agent { docker { image 'node:${NODE}' } }
  options {
    disableConcurrentBuilds() // concurrent runs share the account's limits; several branches need a lock(…) as well
    timeout(time: 60, unit: 'MINUTES')
  }
  environment {
    GW_KEY = credentials('gateway-key')
    npm_config_cache = '.npm-cache' // the container's user cannot write to its HOME
  }
  stages {
    stage('Gauntlet') {
      steps {
        sh 'rm -rf gauntlet-run' // of the build before this one
        sh '${INSTALL}'
        // If this commit's gateway is not already running, start it here and wait until it responds.
        sh '${RUN}'
      }
    }
  }
  post {
    always {
      junit 'gauntlet-run/junit.xml'
      sh '${KEEP} || true' // into gauntlet-history.db, which stays in the workspace
      sh '${PROGRAM} report gauntlet-run --format html --layout folder || true'
      publishHTML target: [reportDir: 'gauntlet-run/report', reportFiles: 'index.html', reportName: 'Gauntlet', keepAll: true, alwaysLinkToLastBuild: true, allowMissing: true]
      archiveArtifacts artifacts: 'gauntlet-history.db', allowEmptyArchive: true
    }
  }
}
`;

/** What `gauntlet init --ci` can write. */
export const CI_JOBS = {
  github: {
    path: ".github/workflows/gauntlet.yaml",
    text: GITHUB,
    setUp: [
      "Add the secret GW_KEY to the repository: Settings, Secrets and variables, Actions.",
      `The workflow stores the run of each push to ${MAIN_BRANCH} as the base for comparisons.${IF_DIFFERENT}`,
    ],
  },
  gitlab: {
    path: "gauntlet.gitlab-ci.yaml",
    text: GITLAB,
    setUp: [
      'Add GW_KEY as a masked variable of the project: Settings, CI/CD, Variables. Clear "Protect variable": otherwise, only jobs on protected branches and tags get it.',
      "For comments on merge requests, add GAUNTLET_TOKEN, a project access token with the scope api, in the same way.",
      "Add this line to .gitlab-ci.yml: include: gauntlet.gitlab-ci.yaml",
    ],
  },
  jenkins: {
    path: "gauntlet.Jenkinsfile",
    text: JENKINS,
    setUp: [
      "Add the key to Jenkins as a Secret text credential with the ID gateway-key.",
      "Create a pipeline from SCM with the script path gauntlet.Jenkinsfile. Plugins: Docker Pipeline, JUnit, HTML Publisher.",
    ],
  },
} as const satisfies Readonly<Record<string, CiJob>>;
