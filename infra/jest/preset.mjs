import { fileURLToPath } from 'node:url';
import { TEST_MS } from '../../packages/testing/src/run/deadlines.ts';
import { leftOutPattern } from './depth.mjs';

const at = (name) => fileURLToPath(new URL(name, import.meta.url));

export default {
  testEnvironment: at('environment.mjs'),
  testRunner: at('runner.mjs'),
  testSequencer: at('sequencer.mjs'),
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', leftOutPattern()],
  moduleFileExtensions: ['ts', 'mjs', 'js', 'json'],
  transform: {}, // see register.mjs
  testTimeout: TEST_MS, // the environment scales it
  // The modules of all test files stay in memory. A worker that exceeds this limit is replaced before its next file.
  workerIdleMemoryLimit: '2GB',
};
