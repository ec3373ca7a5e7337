import { spawn } from 'node:child_process';

/** A command failed. `message` is for the user, and contains captured output of the command. */
export class CommandFailed extends Error {
  constructor(message, exitCode) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The process received a signal. The exit code is that of a shell. */
export class Interrupted extends Error {
  constructor(signal) {
    super(`stopped by ${signal}`);
    this.exitCode = exitCodes[signal];
  }
}

const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/**
 * Runs commands sequentially. A signal to this process ends the running command, and `run` throws when that command has
 * ended. `close` removes the signal handlers.
 */
export function commandLine(cwd) {
  let child;
  let interrupted;
  const stopListeners = Object.keys(exitCodes).map((signal) => {
    const listener = () => {
      if (interrupted) return;
      interrupted = new Interrupted(signal);
      // Ctrl-C in a terminal also sends SIGINT to the command. After a second SIGINT, turbo would not stop its child
      // processes.
      child?.kill('SIGTERM');
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });

  /** Waits for a command. @returns its exit code and its captured output */
  const execute = async (file, args, { env, output }) => {
    if (interrupted) throw interrupted;
    const result = await new Promise((resolve, reject) => {
      child = spawn(file, args, {
        cwd,
        env,
        stdio: output === 'shown' ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
        shell: process.platform === 'win32', // npx, pnpm and turbo are scripts on Windows
      });
      const texts = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr']) {
        child[name]?.setEncoding('utf8').on('data', (text) => {
          texts[name] += text;
        });
      }
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code: code ?? exitCodes[signal] ?? 1, captured: texts }));
    });
    child = undefined;
    return result;
  };

  /** `output`: 'shown' in the terminal, or 'captured', returned and shown only if the command fails. */
  const run = async (file, args, options) => {
    const { code, captured } = await execute(file, args, options);
    if (interrupted) throw interrupted;
    if (code !== 0) throw new CommandFailed(`${captured.stdout}${captured.stderr}${file} ${args[0]} failed`, code);
    return captured.stdout;
  };

  /** The exit code of a command that reports its own errors and signals, with its output shown. */
  const exitCodeOf = async (file, args, { env }) => (await execute(file, args, { env, output: 'shown' })).code;
  const close = () => {
    for (const stopListening of stopListeners) stopListening();
  };
  return { run, exitCodeOf, close };
}
