// A restricted container whose user only the image states.
import { afterEach, expect, test } from '@jest/globals';
import { reconcile } from '../../../src/engines/docker/reconcile.ts';
import { anEngine, clientOf, endAll, serve } from '../servers.ts';
import { aDeployment, aScript, running } from '../world.ts';

afterEach(endAll);

/** Reconciles a new deployment on an engine whose image has the user. @returns what was created */
async function created(user: string | undefined, spec: Parameters<typeof aScript>[1]) {
  const bodies: { readonly User?: string }[] = [];
  const endpoint = await serve(
    anEngine((req, res) => {
      const path = new URL(req.url ?? '', 'http://docker').pathname.replace('/v1.47', '');
      if (path === '/containers/json') return res.end('[]');
      if (path.startsWith('/images/')) return res.end(JSON.stringify({ Id: 'sha256:1', Config: { User: user } }));
      if (path !== '/containers/create') return res.writeHead(404).end('{"message":"No such container"}');
      let body = '';
      req.on('data', (chunk) => {
        body += chunk;
      });
      req.on('end', () => {
        bodies.push(JSON.parse(body));
        res.writeHead(201).end('{"Id":"new"}');
      });
      return undefined;
    }),
  );
  const deployment = await aDeployment(aScript('', spec));
  const seen = await reconcile(clientOf(endpoint), running(await deployment.manifest()), deployment.fence());
  return { seen, bodies };
}

const restricted = { security_profile: 'restricted' };

test.each([
  [undefined, 'runs as root'],
  ['', 'runs as root'],
  ['root', 'runs as the user root'],
  ['0:1000', 'runs as the user 0:1000'],
  ['app', 'runs as the user app'],
])('an image with the user %p is not run with the profile restricted', async (user, why) => {
  const { seen, bodies } = await created(user, restricted);
  expect(bodies).toEqual([]);
  expect(seen).toMatchObject({ phase: 'failed', reason: 'InvalidSpec' });
  expect(seen.message).toMatch(why);
  expect(seen.message).toMatch(/Set run_as of the workload/);
});

test.each(['1000', '1000:1000', '65532:root'])(
  'an image with the user %p is run with the profile restricted',
  async (user) => {
    const { bodies } = await created(user, restricted);
    expect(bodies).toHaveLength(1);
  },
);

test('any image is run with the user of the workload, or with the profile baseline', async () => {
  expect((await created('root', { ...restricted, run_as: '1000' })).bodies).toMatchObject([{ User: '1000' }]);
  expect((await created('root', {})).bodies).toHaveLength(1);
});
