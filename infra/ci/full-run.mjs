// Prints when all tests last ran at depth full. Fails if that was too many commits ago.
import path from 'node:path';
import { fullRunStatus } from '../local/bootstrap/full-run.mjs';

const { text, isDue } = fullRunStatus(path.resolve(import.meta.dirname, '../..'));
console.log(text);
if (isDue) process.exitCode = 1;
