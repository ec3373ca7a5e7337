#!/usr/bin/env node
// `prisma generate` without the download of the schema engine: generate uses the WebAssembly parts only and
// merely insists that the engine's path names an executable.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(path.resolve('package.json'));
const cli = require.resolve('prisma/build/index.js');
const { status } = spawnSync(process.execPath, [cli, 'generate', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
    PRISMA_GENERATE_SKIP_AUTOINSTALL: '1',
  },
});
process.exit(status ?? 1);
