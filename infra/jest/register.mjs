// Preloaded into every Node process of Jest, so that it can import TypeScript.
import fs from 'node:fs';
import { register } from 'node:module';

register('./hooks.mjs', import.meta.url);

// In Node 20, `fs.realpathSync` does not resolve symbolic links correctly after a process has called `stat` on a socket or a pipe
// (it reads the result of the previous call). `require` uses it, and would find packages of other versions.
const { native } = fs.realpathSync;
fs.realpathSync = Object.assign((path, options) => native(path, options), { native });
