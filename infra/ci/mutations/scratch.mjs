import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from './command.mjs';

const SETUP_TIMEOUT_MS = 15 * 60_000;
const COMPILE_TIMEOUT_MS = 5 * 60_000;
const BUILD = ['run', 'build', '--output-logs=errors-only'];

/**
 * Runs `work` with a copy of the working tree in the temporary folder, whose dependencies are installed and whose
 * packages are built, and with the options for commands in the copy. The copy is removed afterwards.
 */
export async function withScratch({ root, env: given, signal }, work) {
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), 'mutations-'));
  try {
    chmodSync(folder, 0o755); // PostgreSQL may run under another account
    const temporary = path.join(folder, 'tmp'); // files of interrupted commands are removed as well
    mkdirSync(temporary);
    const env = { ...given, TMPDIR: temporary };
    copySources(root, folder);
    const setUp = async (file, ...args) => {
      const result = await run(file, args, { cwd: folder, env, signal, timeoutMs: SETUP_TIMEOUT_MS });
      if (result.code !== 0) throw new Error(`${result.output}\n${file} ${args.join(' ')} failed`);
    };
    await setUp('pnpm', 'install', '--frozen-lockfile', '--prefer-offline');
    const cache = `--cache-dir=${path.join(root, '.turbo', 'cache')}`;
    await setUp(binary(folder, 'turbo'), ...BUILD, cache);
    return await work(folder, { env, signal });
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Checks the types of the changed sources, and builds them, because tests that start a service run its bundle. */
export async function compile(folder, { env, signal }) {
  const options = { cwd: folder, env, signal, timeoutMs: COMPILE_TIMEOUT_MS };
  const checked = await run(binary(folder, 'tsc'), ['-b'], options);
  return checked.code === 0 ? run(binary(folder, 'turbo'), BUILD, options) : checked;
}

const binary = (folder, name) => path.join(folder, 'node_modules', '.bin', name);

/** Copies tracked and untracked files of the working tree, except ignored ones. */
function copySources(root, folder) {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const file of new Set(listed.split('\0').filter((name) => name !== ''))) {
    const source = path.join(root, file);
    // A deleted file is still tracked, and a tracked link can lead to a folder.
    if (existsSync(source)) cpSync(source, path.join(folder, file), { recursive: true, verbatimSymlinks: true });
  }
}
