import { createHmac, randomUUID } from 'node:crypto';
import type { World } from '../world.ts';

/** Requests that change sources, each with a source of its own. */
export const changingSources = (world: World) => {
  const body = () => ({ name: `s-${randomUUID()}`, url: 'http://localhost:9/repository.git' });
  const aSource = async () => (await world.asAdmin.post('/api/v1/sources', body())).body.source;
  const path = async (rest = '') => `/api/v1/sources/${(await aSource()).id}${rest}`;
  return {
    createSource: async () => ({ body: body() }),
    updateSource: async () => ({ path: await path(), body: { interval_seconds: 60 } }),
    deleteSource: async () => ({ path: await path() }),
    checkSource: async () => ({ path: await path('/check') }),
    rotateSource: async () => ({ path: await path('/rotate') }),
    notifySource: async () => {
      const { id, hook_secret } = await aSource();
      const signature = createHmac('sha256', hook_secret).update('{}').digest('hex');
      return {
        path: `/api/v1/sources/${id}/hook`,
        body: {},
        headers: { 'X-Hub-Signature-256': `sha256=${signature}` },
      };
    },
  };
};
