import { startFakeHub } from '../fake-hub.ts';
import { startWorld } from '../world.ts';
import { mirrorIn } from './mirror.ts';

/** A fleet and its hub, both reset before each test of the file. `pageSize` is that of the hub. */
export async function startSyncWorld({ pageSize = Number.POSITIVE_INFINITY } = {}) {
  const hub = await startFakeHub();
  const world = await startWorld({ hub });
  const mirror = mirrorIn((sql) => world.database.client.$queryRawUnsafe(sql));
  beforeEach(async () => {
    hub.reset();
    await mirror.forget();
    hub.setPageSize(pageSize);
  });
  afterAll(async () => {
    await world.stop();
    await hub.stop();
  });
  return { hub, world, mirror };
}
