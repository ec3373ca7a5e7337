const swc = [
  '@swc/jest',
  {
    jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  },
];

export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': swc },
  // Packages of this repository resolve to their TypeScript sources: a test sees what is written, not what was built.
  testEnvironmentOptions: { customExportConditions: ['@svc/source', 'node', 'node-addons'] },
  testTimeout: 30_000,
  // Each test file leaves its modules behind: a worker that has grown is replaced between two files.
  workerIdleMemoryLimit: '1GB',
};
