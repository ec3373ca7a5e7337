// Installs a peer from the package registry into a folder that the repository ignores.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const FOLDER = path.resolve(import.meta.dirname, '../../../../node_modules/.cache/bench-peers');
const TIMEOUT_MS = 15 * 60_000;
const run = promisify(execFile);

/** The package with the Node executable and headers of a version for this platform. */
const NODE = `node-${process.platform}-${process.arch}`;

/**
 * Installs packages with these exact versions, and Node. Install scripts do not run; packages in `compiled` are compiled for that Node.
 * @returns the folder of the packages and the path of Node
 * @throws if a step fails. The message is that of npm
 */
export async function install({ name, packages, node, compiled }) {
  const version = packages[name];
  const folder = path.join(FOLDER, `${name}-${version}-node-${node}`);
  if (!fs.existsSync(folder)) {
    const unfinished = `${folder}.unfinished`;
    fs.rmSync(unfinished, { recursive: true, force: true });
    fs.mkdirSync(unfinished, { recursive: true });
    const dependencies = { ...packages, [NODE]: node };
    fs.writeFileSync(path.join(unfinished, 'package.json'), JSON.stringify({ private: true, dependencies }));
    await npm(unfinished, ['install', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund']);
    const modules = path.join(unfinished, 'node_modules');
    for (const each of compiled) {
      const own = path.join(modules, NODE);
      // node-gyp reads the folder of the headers from the environment.
      const environment = {
        PATH: `${path.join(own, 'bin')}${path.delimiter}${process.env.PATH}`,
        npm_config_nodedir: own,
      };
      await npm(path.join(modules, each), ['run', 'rebuild'], environment);
      await run(path.join(own, 'bin', 'node'), ['-e', `require('${each}')`], { cwd: unfinished, timeout: TIMEOUT_MS });
    }
    fs.renameSync(unfinished, folder);
  }
  const modules = path.join(folder, 'node_modules');
  return { modules, node: path.join(modules, NODE, 'bin', 'node') };
}

async function npm(folder, args, environment = {}) {
  const env = { ...process.env, ...environment };
  try {
    await run('npm', args, { cwd: folder, env, timeout: TIMEOUT_MS, maxBuffer: 2 ** 26 });
  } catch (error) {
    const lines = String(error.stderr ?? error.message).split('\n');
    const reason = lines
      .filter((line) => /^npm error (?!A complete log)|^gyp ERR! stack|error:/.test(line))
      .slice(0, 3);
    const text = (reason.join('; ') || error.message).replaceAll(`${FOLDER}${path.sep}`, '');
    throw new Error(`npm ${args.slice(0, 2).join(' ')}: ${text}`, { cause: error });
  }
}
