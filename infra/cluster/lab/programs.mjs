import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';

/** Programs that run until they are stopped. Each has a log file with its name in `logFolder`. */
export class Programs {
  #commands = new Map();
  #children = new Map();
  #logFolder;
  #onFailure;

  /** `onFailure` is called with a message if a program ends without a request. */
  constructor(logFolder, onFailure) {
    this.#logFolder = logFolder;
    this.#onFailure = onFailure;
  }

  run(name, file, args, env = process.env) {
    this.#commands.set(name, { file, args, env });
    this.#start(name);
  }

  has(name) {
    return this.#commands.has(name);
  }

  #start(name) {
    const { file, args, env } = this.#commands.get(name);
    const logFile = path.join(this.#logFolder, `${name}.log`);
    const log = openSync(logFile, 'a');
    const child = spawn(file, args, { stdio: ['ignore', log, log], env });
    closeSync(log);
    child.once('error', (error) => this.#onFailure(`${name} did not start: ${error.message}`));
    child.once('exit', (code, signal) => {
      if (this.#children.get(name) === child) this.#onFailure(`${name} ended with ${signal ?? code}. See ${logFile}.`);
    });
    this.#children.set(name, child);
  }

  /** @throws if the program does not have the state that the action needs */
  async act(name, action) {
    const child = this.#children.get(name);
    if (action === 'start') {
      if (child) throw new Error(`${name} runs already`);
      return this.#start(name);
    }
    if (!child) throw new Error(`${name} does not run`);
    if (action === 'stop' || action === 'kill') {
      this.#children.delete(name);
      const exited = once(child, 'exit');
      child.kill(action === 'stop' ? 'SIGTERM' : 'SIGKILL');
      await exited;
    } else {
      child.kill(action === 'pause' ? 'SIGSTOP' : 'SIGCONT');
    }
  }
}
