// Builds an earlier version of the services in a folder that the repository ignores.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { repository } from '../shared/services.mjs';

// Below `node_modules`, TypeScript would not write declarations.
const FOLDER = path.join(repository, 'bench/.data');

/** Installs and builds a commit, unless an earlier run did so. @returns its checkout */
export async function buildCommit(commit) {
  const git = (...args) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim();
  const id = git('rev-parse', '--verify', `${commit}^{commit}`);
  const checkout = path.join(FOLDER, id);
  const marker = `${checkout}.built`;
  if (fs.existsSync(marker)) return checkout;
  fs.rmSync(checkout, { recursive: true, force: true });
  fs.mkdirSync(FOLDER, { recursive: true });
  git('clone', '--quiet', '--shared', '--no-checkout', repository, checkout);
  git('-C', checkout, 'checkout', '--quiet', '--detach', id);
  const { packageManager } = JSON.parse(fs.readFileSync(path.join(checkout, 'package.json'), 'utf8'));
  const pnpm = (...args) =>
    execFileSync('npx', ['--yes', '--prefer-offline', `--package=${packageManager}`, '--', 'pnpm', ...args], {
      cwd: checkout,
      env: { ...process.env, CI: '1' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  console.log(`building ${id.slice(0, 12)}`);
  pnpm('install', '--frozen-lockfile', '--prefer-offline', '--loglevel=warn');
  pnpm('exec', 'turbo', 'run', 'build', '--filter=@svc/hub...', '--output-logs=errors-only');
  fs.writeFileSync(marker, '');
  return checkout;
}
