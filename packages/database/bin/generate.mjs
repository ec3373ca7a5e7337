#!/usr/bin/env node
// Runs `prisma generate` without a download of the schema engine. The command only uses
// WebAssembly, but requires that the path of the engine is an executable file.
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
