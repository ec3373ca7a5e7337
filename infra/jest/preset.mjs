import { fileURLToPath } from 'node:url';

const at = (name) => fileURLToPath(new URL(name, import.meta.url));

export default {
  testEnvironment: at('environment.mjs'),
  testRunner: at('runner.mjs'),
  testSequencer: at('sequencer.mjs'),
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  moduleFileExtensions: ['ts', 'mjs', 'js', 'json'],
  transform: {}, // see hooks.mjs
  testTimeout: 30_000,
  // The modules of all test files stay in a worker: one that has grown is replaced between two files.
  workerIdleMemoryLimit: '1GB',
};
