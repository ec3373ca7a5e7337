import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { programIn } from '../lab/build.mjs';
import { connectToBridge, disconnectFromBridge } from '../lab/network.mjs';
import { createCgroups, removeCgroups } from './cgroups.mjs';

const INSIDE = new URL('inside.mjs', import.meta.url).pathname;
const READY_ATTEMPTS = 600;

/**
 * A real node: containerd, the kubelet and kube-proxy in namespaces of their own, so that they change nothing on the machine. `settings` are
 * those of `inside.mjs`. `cgroups` is the name of its control groups.
 */
export class RealNode {
  #settings;
  #cgroups;
  #call;
  #onFailure;
  #child;
  /** The functions that settle the requests to `inside.mjs`, by their number. */
  #requests = new Map();
  #lastRequest = 0;

  constructor(settings, { cgroups, call, onFailure }) {
    this.#settings = settings;
    this.#cgroups = cgroups;
    this.#call = call;
    this.#onFailure = onFailure;
  }

  /** Resolves when the node is ready. */
  async start() {
    const { number, name, folder, logFolder, build } = this.#settings;
    if (this.#child) throw new Error(`${name} runs already`);
    for (const each of [folder, logFolder]) mkdirSync(each, { recursive: true });
    const cgroups = createCgroups(this.#cgroups);
    // The shell moves itself into the control groups, before `unshare` makes them the root of the new namespace.
    const join =
      'count=$1; shift; while [ "$count" -gt 0 ]; do echo $$ > "$1/cgroup.procs"; shift; count=$((count - 1)); done; exec "$@"';
    const namespaces = ['--cgroup', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
    // catatonit is the first process of the namespace, and collects processes without a parent.
    const command = [
      'unshare',
      ...namespaces,
      programIn(build, 'catatonit'),
      '--',
      process.execPath,
      INSIDE,
      JSON.stringify(this.#settings),
    ];
    const child = spawn('sh', ['-c', join, 'sh', String(cgroups.length), ...cgroups, ...command], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child = child;
    child.once('exit', () => {
      for (const { reject } of this.#requests.values()) reject(new Error(`${name} ended`));
      this.#requests.clear();
      if (this.#child === child) this.#onFailure(`${name} ended. See the log files in ${logFolder}.`);
    });
    child.on('message', ({ request, error }) => {
      if (request === undefined) return;
      const { resolve, reject } = this.#requests.get(request);
      this.#requests.delete(request);
      if (error) reject(new Error(error));
      else resolve();
    });
    await once(child, 'message');
    connectToBridge(number, child.pid);
    await this.#ask('node', 'start');
    for (let left = READY_ATTEMPTS; ; left -= 1) {
      const { body } = await this.#call('GET', `/api/v1/nodes/${name}`);
      if (body.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) return;
      if (left === 0) throw new Error(`${name} did not become ready. See the log files in ${logFolder}.`);
      await pause(200);
    }
  }

  /** Ends all processes of the node at once, as a power failure does. Its folder remains. */
  async kill() {
    const child = this.#child;
    if (!child) throw new Error(`${this.#settings.name} does not run`);
    this.#child = undefined;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    disconnectFromBridge(this.#settings.number);
    await removeCgroups(this.#cgroups);
  }

  /** Performs an action of the node (`start`, `kill`), or of one of its programs. */
  act(program, action) {
    if (program) return this.#ask(program, action);
    if (action === 'start') return this.start();
    if (action === 'kill') return this.kill();
    throw new Error('A node has the actions start and kill.');
  }

  #ask(program, action) {
    if (!this.#child) throw new Error(`${this.#settings.name} does not run`);
    this.#lastRequest += 1;
    const request = this.#lastRequest;
    this.#child.send({ request, program, action });
    return new Promise((resolve, reject) => this.#requests.set(request, { resolve, reject }));
  }
}
