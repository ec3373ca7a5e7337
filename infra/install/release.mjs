// Builds the packages of a release for the architecture of this machine, after `turbo run build`:
//
//   pnpm release [<new folder>] [--only <package>] [--uncompressed | --files]
//
// The folder, by default release/ in the repository, receives a tarball and a Debian package of each package, and SHA256SUMS. Two builds of
// a commit are identical, because all files have the time of the commit, or of SOURCE_DATE_EPOCH. For tests, `--uncompressed` saves the time
// of the compression, and `--files` writes only the files of each package, to a folder.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { PACKAGES } from './packages.mjs';
import { checksums, setModesAndTimes, sizeOf } from './tree.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const DEBIAN_ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };
const options = {
  only: { type: 'string' },
  uncompressed: { type: 'boolean', default: false },
  files: { type: 'boolean', default: false },
};

const { values, positionals } = parseArgs({ allowPositionals: true, options });
const output = path.resolve(positionals[0] ?? path.join(root, 'release'));
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const architecture = DEBIAN_ARCHITECTURES[process.arch];
const work = mkdtempSync(path.join(tmpdir(), 'release-'));
try {
  main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true });
}

function main() {
  if (process.platform !== 'linux' || architecture === undefined)
    throw new Error('Packages are built on Linux, on x64 or arm64.');
  if (spawnSync('dpkg-deb', ['--version']).status !== 0)
    throw new Error('dpkg-deb is not installed: install the package dpkg.');
  const chosen = PACKAGES.filter(({ name }) => values.only === undefined || name === values.only);
  if (chosen.length === 0) throw new Error(`There is no package ${values.only}.`);
  const { SOURCE_DATE_EPOCH } = process.env;
  const epoch = Number(SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct']));
  mkdirSync(output); // fails if it exists, because SHA256SUMS lists all its files
  for (const each of chosen) build(each, epoch);
  if (values.files) return;
  const sums = checksums('sha256', output);
  writeFileSync(path.join(output, 'SHA256SUMS'), sums);
  process.stdout.write(sums);
}

function build({ name, control, conffiles = [], modes = {}, scripts = {}, fill }, epoch) {
  const title = `${name}-${version}-linux-${process.arch}`;
  const tree = path.join(values.files ? output : work, title);
  mkdirSync(tree);
  fill(tree, epoch);
  // Neither the files that the administrator changes, nor the documentation, which dpkg can leave out.
  const isProgram = (file) => !file.startsWith('etc/') && !file.startsWith('usr/share/doc/');
  writeFileSync(path.join(tree, `usr/lib/${name}/SHA256SUMS`), checksums('sha256', tree, isProgram));
  setModesAndTimes(tree, { modes, epoch });
  if (values.files) return;
  pack(title, epoch);

  const metadata = path.join(work, 'DEBIAN');
  mkdirSync(metadata);
  const fields = {
    Package: name,
    Version: version,
    Architecture: architecture,
    Maintainer: 'the authors of svc <svc@localhost>',
    'Installed-Size': Math.ceil(sizeOf(tree) / 1024),
    Section: 'net',
    Priority: 'optional',
    ...control,
  };
  const lines = Object.entries(fields).map(([field, value]) => `${field}: ${value}\n`);
  const files = {
    control: lines.join(''),
    conffiles: conffiles.map((file) => `/${file}\n`).join(''),
    md5sums: checksums('md5', tree, (file) => !conffiles.includes(file)),
    ...scripts,
  };
  for (const [file, text] of Object.entries(files))
    writeFileSync(path.join(metadata, file), text, { mode: file in scripts ? 0o755 : 0o644 });
  renameSync(metadata, path.join(tree, 'DEBIAN'));
  setModesAndTimes(tree, { modes, epoch });
  const compression = values.uncompressed ? ['-Znone'] : ['-Zxz', '-z6'];
  const file = path.join(output, `${name}_${version}_${architecture}.deb`);
  run('dpkg-deb', ['--root-owner-group', ...compression, '--build', tree, file], { SOURCE_DATE_EPOCH: String(epoch) });
  rmSync(tree, { recursive: true });
}

/** Writes the tarball of a folder. Extracted with --strip-components=1 in /, it installs the package. */
function pack(title, epoch) {
  const owners = ['--owner=0', '--group=0', '--numeric-owner'];
  const compression = values.uncompressed ? [] : ['--use-compress-program=gzip -n'];
  const file = path.join(output, `${title}.tar${values.uncompressed ? '' : '.gz'}`);
  const format = ['--format=gnu', '--sort=name', `--mtime=@${epoch}`, ...owners, ...compression];
  run('tar', ['--create', `--file=${file}`, ...format, '--directory', work, title]);
}

function run(program, args, variables = {}) {
  const env = { ...process.env, LC_ALL: 'C', ...variables };
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: root, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? stderr}`);
  return stdout.trim();
}
