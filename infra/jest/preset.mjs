const at = (name) => new URL(name, import.meta.url).pathname;

export default {
  testEnvironment: at('environment.mjs'),
  testRunner: at('runner.mjs'),
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  moduleFileExtensions: ['ts', 'mjs', 'js', 'json'],
  transform: {},
  testTimeout: 30_000,
  workerIdleMemoryLimit: '1GB',
};
