import { spawn } from 'node:child_process';

/** The program of each platform that opens an address, with its arguments before the address. */
const programs: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens an http or https address in the browser of the user. That it is not possible is no failure. */
export function openInBrowser(address: string): void {
  if (!/^https?:/.test(address)) return;
  const [program, ...args] = programs[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined); // the address was printed
  child.unref();
}
