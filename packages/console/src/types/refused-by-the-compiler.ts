// Requests that must not compile. They are type-checked with the other files, and never bundled.
import type { fleetEndpoints } from '@svc/contract/fleet';
import type { Api } from '../shared/api/api.ts';
import { href } from '../shared/routing/href.ts';
import { type PageProps, page } from '../shared/routing/page.tsx';

export async function refused(fleet: Api<typeof fleetEndpoints>): Promise<void> {
  // @ts-expect-error a parameter is missing
  fleet.read('getMirroredTemplate');
  // @ts-expect-error a parameter has another type
  fleet.read('getMirroredTemplate', { params: { slug: 1 } });
  // @ts-expect-error the filter does not exist
  fleet.read('listMirroredTemplates', { query: { colour: 'red' } });
  // @ts-expect-error the endpoint does not exist
  fleet.read('listTemplatesOfTheMirror');
  // @ts-expect-error a member is missing
  await fleet.call('createToken', { body: { name: 'ci' } });
  // @ts-expect-error the role does not exist
  await fleet.call('createToken', { body: { name: 'ci', role: 'root' } });
  // @ts-expect-error the body has no such member
  await fleet.call('createToken', { body: { name: 'ci', role: 'viewer', colour: 'red' } });
  const { tokens } = await fleet.call('listTokens');
  // @ts-expect-error a list never contains a secret
  tokens[0]?.secret;
  const { deployment } = await fleet.call('getDeployment', { params: { id: 'x' } });
  // @ts-expect-error the phase does not exist
  deployment.phase === 'runing';
  // @ts-expect-error the address requires a parameter
  href('/deploy/:slug');
  // @ts-expect-error the address has no such parameter
  href('/deploy/:slug', { id: 'x' });
  // @ts-expect-error the page is written for another address
  page('/catalog/:slug', async () => ({ default: (_: PageProps<'/deployments/:id'>) => null }));
}

export async function accepted(fleet: Api<typeof fleetEndpoints>): Promise<void> {
  fleet.read('listTokens');
  fleet.read('listMirroredTemplates', { query: { page: 2, featured: true, search: undefined } });
  await fleet.call('createToken', { body: { name: 'ci', role: 'viewer', expires_in_days: 90 } });
  await fleet.call('restartDeployment', { params: { id: 'x' }, ifMatch: 3 });
  href('/deploy/:slug', { slug: 'redis' }, { page: 2 });
  page('/catalog/:slug', async () => ({ default: ({ params }: PageProps<'/catalog/:slug'>) => params.slug }));
}
