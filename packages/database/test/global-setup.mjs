import { startEmbeddedPostgres } from '../src/embedded.ts';

// One server for all test files. Each creates databases of its own.
export default async () => {
  const server = await startEmbeddedPostgres();
  process.env.TEST_SERVER = server.url('postgres');
  globalThis.__tearDown = server.stop;
};
