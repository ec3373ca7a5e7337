import { startEmbeddedPostgres } from '../src/embedded.ts';

// All test files use one server, and create their own databases.
export default async () => {
  const server = await startEmbeddedPostgres();
  process.env.TEST_SERVER = server.url('postgres');
  globalThis.__tearDown = server.stop;
};
