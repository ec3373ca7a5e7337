import { spawn } from 'node:child_process';

/** A command of ours that failed: `message` is for the reader, with what the command printed where that was held back. */
export class CommandFailed extends Error {
  constructor(message, exitCode) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A signal came; exit codes are those that a shell gives. */
export class Interrupted extends Error {
  constructor(signal) {
    super(`stopped by ${signal}`);
    this.exitCode = exitCodes[signal];
  }
}

const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/**
 * Runs one command after the other. A signal to this process ends the running command, and run() throws once that
 * command is gone. close() gives signals back to whoever comes next.
 */
export function commandLine(cwd) {
  let child;
  let interrupted;
  const stopListeners = Object.keys(exitCodes).map((signal) => {
    const listener = () => {
      interrupted = new Interrupted(signal);
      // Ctrl-C in a terminal reaches the command without us, and a second SIGINT makes it leave its own children alone.
      child?.kill('SIGTERM');
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });

  /** `output`: 'shown' to the terminal, or 'kept', answered and shown only when the command fails. */
  const run = async (file, args, { env, output }) => {
    if (interrupted) throw interrupted;
    const { code, kept } = await new Promise((resolve, reject) => {
      child = spawn(file, args, {
        cwd,
        env,
        stdio: output === 'shown' ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
        shell: process.platform === 'win32', // npx, pnpm and turbo are scripts there
      });
      const texts = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr']) {
        child[name]?.setEncoding('utf8').on('data', (text) => {
          texts[name] += text;
        });
      }
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, kept: texts }));
    });
    child = undefined;
    if (interrupted) throw interrupted;
    if (code !== 0) throw new CommandFailed(`${kept.stdout}${kept.stderr}${file} ${args[0]} failed`, code ?? 1);
    return kept.stdout;
  };
  const close = () => {
    for (const stopListening of stopListeners) stopListening();
  };
  return { run, close };
}
