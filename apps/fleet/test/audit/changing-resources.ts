import { randomUUID } from 'node:crypto';
import type { ApiRequest } from '@svc/testing';
import { newRollout } from '../../src/deployments/updates/rollout.ts';
import { volumeName } from '../../src/render/labels.ts';
import { aTemplate } from '../a-template.ts';
import { catalogApplication } from '../applications/catalog.ts';
import type { World } from '../world.ts';

type Given = Partial<Omit<ApiRequest, 'method'>>;

const HOST = { engine: 'docker', endpoint: 'tcp://engine.example.test:2375' };
const CLUSTER = { server: 'https://kubernetes.example.test', auth: { kind: 'token', token: 'of the cluster' } };
const WORKLOAD = { image_name: 'team/app' };
/** A template that any host can run. */
const FREE = {
  cpu_request: '',
  memory_request: '',
  env_schema: [],
  volume_mounts: [],
  node_selector: {},
  required_network_types: [],
  registry_credentials: null,
  secret_refs: [],
};
const SECRET = { values: { key: 'value' } };
const APPLICATION = {
  spec: { generated: [{ name: 'password' }], parts: [{ name: 'web', image_name: 'team/app', scalable: true }] },
};

/** How to make a request of each kind that changes resources. Each request uses its own rows. */
export function changingResources(world: World) {
  const name = () => `r-${randomUUID()}`;
  const { asAdmin, asOperator } = world;
  const made = async (plural: string, singular: string, body: object): Promise<{ id: string }> => {
    const answer = await asAdmin.post(`/api/v1/${plural}`, { name: name(), ...body });
    expect({ plural, status: answer.status }).toEqual({ plural, status: 201 });
    return answer.body[singular];
  };
  const at = async (row: Promise<{ id: string }>, plural: string, rest: Given & { readonly verb?: string } = {}) => {
    const { verb = '', ...given } = rest;
    return { path: `/api/v1/${plural}/${(await row).id}${verb}`, ...given };
  };
  const aHost = () => made('hosts', 'host', HOST);
  const aCluster = () => made('clusters', 'cluster', CLUSTER);
  const aWorkload = () => made('workloads', 'workload', WORKLOAD);
  const aSecret = () => made('secrets', 'secret', SECRET);
  const aVolume = () => made('storage', 'storage', {});
  const whatRuns = async () => {
    const { id } = await aHost();
    await world.database.client.host.update({
      where: { id },
      data: { reachability: 'online', cpu_millis: 1000, memory_bytes: 1_000_000 },
    });
    return { workload_id: (await aWorkload()).id, target: { host_id: id } };
  };
  const aDeployment = async (body: object = {}) =>
    made('deployments', 'deployment', { ...(await whatRuns()), ...body });
  const aScaledOne = async () => {
    const deployment = await aDeployment();
    await asAdmin.post(`/api/v1/deployments/${deployment.id}/scale`, { replicas: 2 });
    return deployment;
  };
  /** A deployment with a rollout in this state, and a good generation before it. */
  const aRollout = async (state: string) => {
    const { target } = await whatRuns();
    const env_schema = [{ name: 'MODE' }];
    const { id: workload_id } = await made('workloads', 'workload', { ...WORKLOAD, env_schema });
    const { id } = await made('deployments', 'deployment', { workload_id, target });
    await asAdmin.put(`/api/v1/deployments/${id}`, { env: { MODE: 'new' } });
    const rollout = { ...newRollout(2), state };
    await world.database.client.deployment.update({ where: { id }, data: { good_generation: 1, rollout } });
    return { id };
  };
  /** A deployment of a template, with the digest of the plan of its upgrade. */
  const anUpgrade = async () => {
    const { target } = await whatRuns();
    const template = aTemplate({ ...FREE, slug: name() });
    const { client } = world.database;
    const { id: templateId, slug, category_id, category_slug, is_featured } = template;
    const columns = { slug, category_id, category_slug, is_featured, search_text: '', sort_name: slug };
    const document = JSON.parse(JSON.stringify(template));
    await client.catalogTemplate.create({ data: { id: templateId, ...columns, updated_at: new Date(), document } });
    const { id } = await made('deployments', 'deployment', { template: template.slug, target });
    const plan = await asAdmin.post('/api/v1/deployments/plan', { deployment_id: id, upgrade: true });
    return { path: `/api/v1/deployments/${id}/upgrade`, body: { expected: plan.body.digest } };
  };
  const aRun = async () => {
    const { id } = await aDeployment();
    const answer = await asAdmin.post('/api/v1/update-runs', { deployment_ids: [id] });
    return { id: answer.body.run.id };
  };
  const aFile = () => [{ path: 'a.yaml', text: `kind: deployment\nname: ${name()}\nspec:\n  image_name: team/app\n` }];
  const aPlan = async (verb: string) => {
    await whatRuns();
    const { body } = await asOperator.post('/api/v1/plans', { files: aFile() });
    return { path: `/api/v1/plans/${body.plan.id}/${verb}`, body: { digest: body.plan.digest } };
  };
  const aGeneratedValue = async () => {
    const { target } = await whatRuns();
    const env_schema = [{ name: 'PASSWORD', description: '[secret]' }];
    const { id: workload_id } = await made('workloads', 'workload', { ...WORKLOAD, env_schema });
    return made('deployments', 'deployment', { workload_id, target, env: { PASSWORD: { generate: 32 } } });
  };
  const whereItRuns = async () => ({ target: (await whatRuns()).target });
  const anApplication = async (given: object = {}) =>
    made('applications', 'application', { ...APPLICATION, ...(await whereItRuns()), ...given });
  /** An application of the catalog, with the digest of the plan of its upgrade. */
  const anUpgradedApplication = async () => {
    const slug = name();
    const { rows, changed } = catalogApplication(slug);
    await world.database.client.catalogApplication.create({ data: rows });
    const { id } = await made('applications', 'application', { application: slug, ...(await whereItRuns()) });
    await world.database.client.catalogApplication.update({ where: { id: rows.id }, data: { document: changed } });
    const plan = await asAdmin.post('/api/v1/applications/plan', { application_id: id, upgrade: true });
    return { path: `/api/v1/applications/${id}/upgrade`, body: { expected: plan.body.digest } };
  };
  const aChangedApplication = async () => {
    const application = await anApplication();
    await asAdmin.post(`/api/v1/applications/${application.id}/scale`, { replicas: { web: 2 } });
    return application;
  };
  /** An application whose second generation has this outcome, after a good one. */
  const anOpenApplication = async (outcome: 'failed' | null) => {
    const { id } = await aChangedApplication();
    const { client } = world.database;
    await client.application.update({ where: { id }, data: { good_generation: 1 } });
    await client.applicationGeneration.updateMany({ where: { application_id: id, generation: 2 }, data: { outcome } });
    return { id };
  };
  /** A volume on a new host or cluster whose row is missing. */
  const anOrphan = async (kind: 'host' | 'cluster', verb: string) => {
    const { id: target_id } = await (kind === 'host' ? aHost() : aCluster());
    const orphan = { id: randomUUID(), name: name() };
    const document = {
      name: orphan.name,
      generation: 0,
      workload_id: null,
      revision: null,
      variables: [],
      replicas: 0,
      objects: [volumeName(orphan)],
      object_count: 1,
      ports: [],
      volume: null,
    };
    const row = { id: orphan.id, kind: 'volume', document, target_id, [`${kind}_id`]: target_id };
    await world.database.client.orphan.create({ data: row });
    return { path: `/api/v1/${kind}s/${target_id}/orphans/${orphan.id}/${verb}`, body: {} };
  };
  const change = { body: { labels: { team: 'ml' } } };
  return {
    createHost: async () => ({ body: { name: name(), ...HOST } }),
    checkNewHost: async () => ({ body: HOST }),
    updateHost: () => at(aHost(), 'hosts', change),
    deleteHost: () => at(aHost(), 'hosts'),
    checkHost: () => at(aHost(), 'hosts', { verb: '/check' }),
    removeHostOrphan: () => anOrphan('host', 'remove'),
    adoptHostOrphan: () => anOrphan('host', 'adopt'),
    createCluster: async () => ({ body: { name: name(), ...CLUSTER } }),
    checkNewCluster: async () => ({ body: CLUSTER }),
    updateCluster: () => at(aCluster(), 'clusters', change),
    deleteCluster: () => at(aCluster(), 'clusters'),
    checkCluster: () => at(aCluster(), 'clusters', { verb: '/check' }),
    removeClusterOrphan: () => anOrphan('cluster', 'remove'),
    adoptClusterOrphan: () => anOrphan('cluster', 'adopt'),
    createWorkload: async () => ({ body: { name: name(), ...WORKLOAD } }),
    updateWorkload: () => at(aWorkload(), 'workloads', { body: { image_tag: '2' } }),
    deleteWorkload: () => at(aWorkload(), 'workloads'),
    createSecret: async () => ({ body: { name: name(), ...SECRET } }),
    updateSecret: () => at(aSecret(), 'secrets', { body: { values: { key: 'another' } } }),
    deleteSecret: () => at(aSecret(), 'secrets'),
    createStorage: async () => ({ body: { name: name() } }),
    updateStorage: () => at(aVolume(), 'storage', change),
    deleteStorage: () => at(aVolume(), 'storage'),
    createDeployment: async () => ({ body: { name: name(), ...(await whatRuns()) } }),
    planDeployment: async () => ({ body: await whatRuns() }),
    updateDeployment: () => at(aDeployment(), 'deployments', { body: { replicas: 2 } }),
    deleteDeployment: () => at(aDeployment(), 'deployments'),
    startDeployment: () => at(aDeployment({ desired_state: 'stopped' }), 'deployments', { verb: '/start' }),
    stopDeployment: () => at(aDeployment(), 'deployments', { verb: '/stop' }),
    restartDeployment: () => at(aDeployment(), 'deployments', { verb: '/restart' }),
    scaleDeployment: () => at(aDeployment(), 'deployments', { verb: '/scale', body: { replicas: 2 } }),
    rollbackDeployment: () => at(aScaledOne(), 'deployments', { verb: '/rollback', body: {} }),
    upgradeDeployment: anUpgrade,
    checkDeploymentImage: () => at(aDeployment(), 'deployments', { verb: '/check-image' }),
    abortRollout: () => at(aRollout('progressing'), 'deployments', { verb: '/rollout/abort' }),
    resumeRollout: () => at(aRollout('held'), 'deployments', { verb: '/rollout/resume' }),
    planUpdateRun: async () => ({ body: { deployment_ids: [(await aDeployment()).id] } }),
    createUpdateRun: async () => ({ body: { deployment_ids: [(await aDeployment()).id] } }),
    cancelUpdateRun: () => at(aRun(), 'update-runs', { verb: '/cancel' }),
    createPlan: async () => ({ body: { files: aFile() } }),
    applyPlan: () => aPlan('apply'),
    approvePlan: () => aPlan('approve'),
    rejectPlan: () => aPlan('reject'),
    revealDeploymentValue: () => at(aGeneratedValue(), 'deployments', { verb: '/values/PASSWORD/reveal' }),
    planApplication: async () => ({ body: { name: name(), ...APPLICATION, ...(await whereItRuns()) } }),
    createApplication: async () => ({ body: { name: name(), ...APPLICATION, ...(await whereItRuns()) } }),
    updateApplication: () => at(anApplication(), 'applications', change),
    startApplication: () => at(anApplication({ desired_state: 'stopped' }), 'applications', { verb: '/start' }),
    stopApplication: () => at(anApplication(), 'applications', { verb: '/stop' }),
    restartApplication: () => at(anApplication(), 'applications', { verb: '/restart' }),
    scaleApplication: () => at(anApplication(), 'applications', { verb: '/scale', body: { replicas: { web: 2 } } }),
    upgradeApplication: anUpgradedApplication,
    rollbackApplication: () =>
      at(aChangedApplication(), 'applications', { verb: '/rollback', body: { generation: 1 } }),
    abortApplicationRollout: () => at(anOpenApplication(null), 'applications', { verb: '/rollout/abort' }),
    resumeApplicationRollout: () => at(anOpenApplication('failed'), 'applications', { verb: '/rollout/resume' }),
    deleteApplication: () => at(anApplication(), 'applications'),
    revealApplicationValue: () => at(anApplication(), 'applications', { verb: '/values/password/reveal' }),
  };
}
