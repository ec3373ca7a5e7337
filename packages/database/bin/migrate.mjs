#!/usr/bin/env node
import { runCommand } from '../dist/development/cli.js';

try {
  process.exitCode = await runCommand(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
