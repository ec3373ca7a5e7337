import type { Answered } from '@svc/testing';
import { newRollout } from '../../src/deployments/updates/rollout.ts';
import { isClaimable } from '../../src/reconciler/queue.ts';
import { observed, passesOf } from '../deployments/updates/passes.ts';
import { type Body, startDeploymentWorld } from '../deployments/world.ts';

/** Ghost with its database. */
export const GHOST = {
  inputs: [
    { name: 'title', default: 'My blog' },
    { name: 'mail_password', type: 'secret', required: false },
  ],
  generated: [{ name: 'db_password' }],
  parts: [
    {
      name: 'web',
      image_name: 'library/ghost',
      image_tag: '6',
      needs: [{ part: 'database', until: 'ready' }],
      ports: [{ containerPort: 2368, publish: true }],
      volume_mounts: [{ name: 'content', mountPath: '/var/lib/ghost/content' }],
      env: [
        { name: 'url', value: `\${self.url.2368}` },
        { name: 'database__client', value: 'mysql' },
        { name: 'database__connection__host', value: `\${parts.database.host}` },
        { name: 'database__connection__password', value: `\${generated.db_password}` },
        {
          name: 'DATABASE_URL',
          value: `mysql://ghost:\${generated.db_password|url}@\${parts.database.address.3306}/ghost`,
        },
        { name: 'title', value: `\${inputs.title} of \${application.name}` },
        { name: 'mail__options__auth__pass', value: `\${inputs.mail_password}` },
      ],
    },
    {
      name: 'database',
      image_name: 'library/mysql',
      image_tag: '8.4',
      ports: [{ containerPort: 3306 }],
      volume_mounts: [{ name: 'data', mountPath: '/var/lib/mysql' }],
      env: [{ name: 'MYSQL_PASSWORD', value: `\${generated.db_password}` }],
    },
  ],
};

/** A fleet with helpers for applications. */
export async function startApplicationWorld(options: Parameters<typeof startDeploymentWorld>[0] = {}) {
  const fleet = await startDeploymentWorld(options);
  const { client, operator } = fleet;
  const { pass } = passesOf(fleet);
  const created = async (given: Body = {}) => {
    const answer = await operator.post('/api/v1/applications', { name: 'blog', spec: GHOST, ...given });
    if (answer.status !== 201) throw new Error(`POST applications responded with ${answer.status}: ${answer.text}`);
    return answer.body;
  };
  const read = async (id: string) => (await operator.get(`/api/v1/applications/${id}`)).body.application;
  const part = async (id: string, name: string) =>
    (await read(id)).parts.find((each: { name: string }) => each.name === name);
  return {
    ...fleet,
    /** A host on which parts reach each other. */
    aMeshHost: (given: object = {}) =>
      fleet.aHost({ network_types: ['mesh'], addresses: { mesh: '10.1.2.3' }, ...given }),
    createApplication: (given: Body = {}, headers?: Readonly<Record<string, string>>): Promise<Answered> =>
      operator.post('/api/v1/applications', { name: 'blog', spec: GHOST, ...given }, headers),
    planApplication: (given: Body = {}): Promise<Answered> =>
      operator.post('/api/v1/applications/plan', { name: 'blog', spec: GHOST, ...given }),
    created,
    application: read,
    part,
    /** A pass of a worker that finds a part as it should be. */
    runs: async (id: string, name: string) => pass((await part(id, name)).deployment_id, observed()),
    /** A pass of a worker that starts a part. */
    starts: async (id: string, name: string) =>
      pass((await part(id, name)).deployment_id, observed({ phase: 'starting', next: 'soon' }, { ready: false })),
    /** Passes of a worker after which a part has been ready for the required time, so that its generation is good. */
    proven: async (id: string, name: string) => {
      const { deployment_id } = await part(id, name);
      const where = { id: deployment_id };
      await client.deployment.update({ where, data: { updates: { ready_seconds: 0, on_failure: 'stop' } } });
      await pass(deployment_id, observed());
      await pass(deployment_id, observed());
    },
    /** A pass of a worker in which a part cannot run its new generation. */
    fails: async (id: string, name: string, { hasRun = false } = {}) => {
      const { deployment_id, generation } = await part(id, name);
      const rollout = { ...newRollout(generation), state: 'held', reason: 'ImageNotFound', has_run: hasRun };
      const data = { rollout, observed_generation: generation, phase: 'degraded', reason: 'ImageNotFound' } as const;
      await client.deployment.update({ where: { id: deployment_id }, data });
    },
    /** A pass of a worker that has removed a part. */
    gone: (deploymentId: string) => pass(deploymentId, observed({ phase: 'gone', instances: [] })),
    /** The names of the deployments that workers can claim now. */
    claimable: async (): Promise<string[]> => {
      await client.deployment.updateMany({ data: { due_at: new Date(0), lease_until: null } });
      const rows = await client.$queryRaw<
        { name: string }[]
      >`SELECT d.name FROM deployments d WHERE ${isClaimable} ORDER BY d.name`;
      return rows.map(({ name }) => name);
    },
  };
}
