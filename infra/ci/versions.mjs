// Requires one version in package.json files, charts, OpenAPI documents and the changelog, and that no code is marked for
// deletion after an earlier minor version. CONTRIBUTING.md ("Releases") describes the marker.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './sources.mjs';

/** Packages with this version are tools of the repository. */
const UNVERSIONED = '0.0.0';
const SKIPPED = ['node_modules', 'dist', 'generated'];
const TEXT = '**/*.{ts,tsx,mjs,js,sh,sql,prisma,md,yaml,yml,tpl,Dockerfile}';
const MARKER = /Delete after (\d+)\.(\d+):/;

const read = (file) => readFileSync(path.join(root, file), 'utf8');
const exclude = (file) => SKIPPED.includes(path.basename(file));
const filesIn = (folder, pattern) =>
  globSync(pattern, { cwd: path.join(root, folder), exclude }).map((file) => path.join(folder, file));
const current = JSON.parse(read('package.json')).version;

const problems = [...wrongVersions(), ...wrongChangelog(), ...expiredMarkers()];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

function wrongVersions() {
  const manifests = ['apps', 'packages', 'infra', 'bench'].flatMap((folder) => filesIn(folder, '{.,*}/package.json'));
  const charts = filesIn('infra/helm', '*/Chart.yaml');
  return [
    ...manifests.map((file) => [file, JSON.parse(read(file)).version]),
    ...filesIn('openapi', '*.json').map((file) => [file, JSON.parse(read(file)).info.version]),
    ...charts.flatMap((file) =>
      [...read(file).matchAll(/^ *(?:version|appVersion): *(\S+)/gm)].map(([, version]) => [file, version]),
    ),
  ]
    .filter(([, version]) => version !== UNVERSIONED && version !== current)
    .map(([file, version]) => `${file}: the version is ${version}, and that of package.json is ${current}`);
}

/** The sections of the changelog are "Unreleased", and then the releases with their dates. */
function wrongChangelog() {
  const [first, second = ''] = [...read('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, title]) => title);
  const [, version] = /^(\S+) \(\d{4}-\d{2}-\d{2}\)$/.exec(second) ?? [];
  if (first === 'Unreleased' && version === current) return [];
  return [`CHANGELOG.md: the first sections must be "Unreleased" and "${current} (<year>-<month>-<day>)"`];
}

function expiredMarkers() {
  const [major, minor] = current.split('.').map(Number);
  const isExpired = ([, ofMajor, ofMinor]) =>
    Number(ofMajor) < major || (Number(ofMajor) === major && Number(ofMinor) < minor);
  return ['apps', 'packages', 'infra', 'bench', 'prisma', 'docs'].flatMap((folder) =>
    filesIn(folder, TEXT).flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, index) => {
          const marker = MARKER.exec(line);
          return marker && isExpired(marker) ? [`${file}:${index + 1}: ${line.slice(marker.index)}`] : [];
        }),
    ),
  );
}
