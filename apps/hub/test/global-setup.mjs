import path from 'node:path';
import { setUpDatabases } from '@svc/testing/global-setup';

export default async () => {
  const prismaDir = path.resolve(import.meta.dirname, '../../../prisma/hub');
  globalThis.__tearDown = await setUpDatabases({ prismaDir, name: 'hub' });
};
