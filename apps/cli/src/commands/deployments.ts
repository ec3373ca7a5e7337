import { randomUUID } from 'node:crypto';
import { type Fleet, fleetOf, reply } from '../api.ts';
import { confirm, requireConsent } from '../consent.ts';
import { type ExitCode, exitCodes, Failure, UsageError } from '../errors.ts';
import type { paths as FleetPaths } from '../generated/fleet.ts';
import { given } from '../given.ts';
import type { Action, Common } from '../invocation.ts';
import { clusterId, deploymentId, deploymentOf, hostId } from '../names.ts';
import { ageOf, print, tell, writeLine } from '../output.ts';
import { allPages } from '../pages.ts';
import { assignment } from '../stdin.ts';
import { oneLine } from '../text.ts';

type Deployment = Awaited<ReturnType<typeof deploymentOf>>;

interface ListOptions extends Common {
  readonly label?: string;
  readonly phase?: string;
  readonly advisory?: 'note' | 'warning' | 'critical';
  readonly search?: string;
}

export const list: Action<ListOptions> = async (_, { label, phase, advisory, search, ...options }) => {
  const fleet = fleetOf(options);
  const filters = given({ label, phase, advisory, search });
  const deployments = await allPages<Deployment>(async (page) => {
    const query = { ...filters, ...page, sort: 'name' as const, view: 'summary' as const };
    const answer = await reply(fleet.GET('/api/v1/deployments', { params: { query } }));
    return { rows: answer.deployments, totalPages: answer.pagination.totalPages };
  });
  await print(deployments, {
    format: options.output,
    as: () => ({
      columns: ['NAME', 'PHASE', 'REPLICAS', 'TEMPLATE', 'TARGET', 'AGE', 'UPDATE', 'REASON'],
      rows: deployments.map((each) => [
        each.name,
        each.phase,
        each.current_replicas ?? each.replicas,
        each.template_slug,
        each.target_name,
        ageOf(each.created_at),
        wordsOfUpdate(each),
        each.reason,
      ]),
    }),
  });
  return undefined;
};

/** What an available update changes, or that it is held. */
const wordsOfUpdate = ({ update }: Deployment): string | null =>
  // A replica of version 0.2 states none.
  update ? (update.held ? 'held' : update.kinds.join(', ')) : null;

/** The options with the values of variables. */
export interface VariableOptions {
  readonly set: readonly string[];
  readonly secret: readonly string[];
  readonly generate: readonly string[];
}

interface DeployOptions extends Common, VariableOptions {
  readonly name?: string;
  readonly volume: readonly string[];
  readonly hostPort: readonly string[];
  readonly label: readonly string[];
  readonly acknowledge: readonly string[];
  readonly replicas?: number;
  readonly host?: string;
  readonly cluster?: string;
  readonly wait?: boolean;
  readonly dryRun?: boolean;
}

/** Deploys a template. The plan is shown before the question. */
export const deploy: Action<DeployOptions> = async ([template = ''], options) => {
  if (options.dryRun !== true) requireConsent(options);
  if (options.host !== undefined && options.cluster !== undefined)
    throw new UsageError('Use --host or --cluster, not both.');
  const fleet = fleetOf(options);
  const target = await targetIn(fleet, options);
  const body: NewDeployment = {
    name: options.name ?? template,
    template,
    env: envOf(options),
    labels: Object.fromEntries(options.label.map(assignment)),
    volumes: Object.fromEntries(options.volume.map(assignment).map(([name, size]) => [name, { size }])),
    ...given({ replicas: options.replicas, target }),
    // An earlier fleet does not know the member.
    ...(options.hostPort.length > 0 && {
      host_ports: Object.fromEntries(options.hostPort.map(assignment).map(([port, host]) => [port, Number(host)])),
    }),
    ...(options.acknowledge.length > 0 && { acknowledge: [...options.acknowledge] }),
  };
  if (options.dryRun === true || options.yes !== true) {
    const plan = await reply(fleet.POST('/api/v1/deployments/plan', { body }));
    refuseUnlessPossible(plan);
    tellAdvice(plan);
    tellRefusals(plan);
    const where = plan.placement.candidates.find(({ id }) => Object.values(plan.placement.target ?? {}).includes(id));
    if (options.dryRun === true) {
      await print(plan, {
        format: options.output,
        as: () => ({
          deployment: body.name,
          target: where && `${where.kind} ${where.name}`,
          reasons: where?.reasons.join('; '),
          creates: plan.changes.map(({ object }) => object).join(', '),
        }),
      });
      return exitCodes.changes;
    }
    await confirm(`Deploy ${oneLine(body.name)} on ${where?.kind} ${where?.name}?`, options);
  }
  const { deployment, generated } = await create(fleet, body);
  return finish(fleet, deployment, { ...options, generated });
};

export type Plan = FleetPaths['/api/v1/deployments/plan']['post']['responses'][200]['content']['application/json'];

/** @throws Failure with all reasons for which the request of a plan would fail */
export function refuseUnlessPossible({ ok, refusals }: Pick<Plan, 'ok' | 'refusals'>): void {
  if (ok) return;
  throw new Failure(refusals.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('\n'));
}

/** Tells what the publisher says about the template of a plan. */
export function tellAdvice({ advice }: Pick<Plan, 'advice'>): void {
  if (advice?.status === 'deprecated') tell(`The template is deprecated: ${oneLine(advice.status_message)}`);
  for (const { severity, message } of advice?.advisories ?? []) tell(`${oneLine(severity)}: ${oneLine(message)}`);
}

/** Tells what the cluster of a plan refuses. It is advice: the deployment can be created nevertheless. */
export function tellRefusals({ dry_run = [] }: Pick<Plan, 'dry_run'>): void {
  for (const { object, result, message } of dry_run) {
    if (result === 'refused') tell(`The cluster refuses ${oneLine(object)}: ${oneLine(message)}`);
  }
}

const factsOf = (deployment: Deployment) => ({
  name: deployment.name,
  id: deployment.id,
  phase: deployment.phase,
  message: deployment.message,
  target: deployment.target_name,
});

async function targetIn(fleet: Fleet, { host, cluster }: Pick<DeployOptions, 'host' | 'cluster'>) {
  if (host !== undefined) return { host_id: await hostId(fleet, host) };
  return cluster === undefined ? undefined : { cluster_id: await clusterId(fleet, cluster) };
}

type EnvValue = string | { readonly generate: number } | { readonly secret: string; readonly key?: string };

/** The variables that the options set. @throws UsageError */
export function envOf({ set, secret, generate }: VariableOptions): Record<string, EnvValue> {
  const generated = generate.map((text) => {
    const [name, length] = text.includes('=') ? assignment(text) : [text, '32'];
    if (!/^\d{1,3}$/.test(length)) throw new UsageError(`--generate ${text} must have the form KEY or KEY=LENGTH.`);
    return [name, { generate: Number(length) }] as const;
  });
  const bound = secret.map(assignment).map(([name, reference]) => {
    const [of = '', key] = reference.split('/', 2);
    return [name, { secret: of, ...given({ key }) }] as const;
  });
  return Object.fromEntries<EnvValue>([...set.map(assignment), ...generated, ...bound]);
}

type NewDeployment = FleetPaths['/api/v1/deployments']['post']['requestBody']['content']['application/json'];

/** Sends the request once more if there was no response. The key makes sure that it creates one deployment. */
async function create(fleet: Fleet, body: NewDeployment) {
  const params = { header: { 'Idempotency-Key': randomUUID() } };
  const send = () => reply(fleet.POST('/api/v1/deployments', { params, body }));
  return send().catch((error: unknown) => {
    if (error instanceof Failure && error.cause !== undefined) return send();
    throw error;
  });
}

/** The phases after which a deployment does not change by itself, or changes slowly. */
const SETTLED = ['running', 'degraded', 'failed', 'stopped'];

/** Waits until a deployment runs, has failed or is stopped. */
export async function waitFor(fleet: Fleet, id: string): Promise<Deployment> {
  for (;;) {
    const params = { path: { id }, query: { wait: SETTLED.join(','), timeout: 55 } };
    const { deployment } = await reply(fleet.GET('/api/v1/deployments/{id}', { params }));
    const isCurrent = deployment.observed_generation === deployment.generation;
    if (isCurrent && SETTLED.includes(deployment.phase)) return deployment;
    tell(`${deployment.name}: ${deployment.phase} ${deployment.message}`);
  }
}

/** A deployment that has returned to the last good generation runs, but the change has failed. */
export function hasFailed({ phase, rollout }: Pick<Deployment, 'phase' | 'rollout'>): boolean {
  const hasReturned = (rollout?.failed_generation ?? null) !== null;
  return !((phase === 'running' && !hasReturned) || phase === 'stopped');
}

export interface OperationOptions extends Common {
  readonly wait?: boolean;
}

/** The values that a change generated, which only its response contains. */
interface Generating {
  readonly generated?: readonly { readonly name: string; readonly value: string }[];
}

/** Prints a deployment after a change of it, with the values that the change can generate. */
export async function finish(
  fleet: Fleet,
  changed: Deployment,
  { wait, output, generated }: OperationOptions & Generating,
): Promise<ExitCode | undefined> {
  const current = wait === true ? await waitFor(fleet, changed.id) : changed;
  await print(generated ? { deployment: current, generated } : current, {
    format: output,
    as: () => ({
      ...factsOf(current),
      ...Object.fromEntries((generated ?? []).map(({ name, value }) => [`$${name}`, value])),
    }),
  });
  if (wait !== true) return undefined;
  return hasFailed(current) ? exitCodes.failed : exitCodes.done;
}

/** The fleet, and the id of a deployment in it that a person has agreed to change. */
export async function agreed(
  name: string,
  question: string,
  options: Common,
): Promise<{ readonly fleet: Fleet; readonly id: string }> {
  requireConsent(options);
  const fleet = fleetOf(options);
  const id = await deploymentId(fleet, name);
  await confirm(question, options);
  return { fleet, id };
}

interface ScaleOptions extends OperationOptions {
  readonly dryRun?: boolean;
}

export const scale: Action<ScaleOptions> = async ([name = '', count = ''], options) => {
  if (!/^[1-9]\d{0,3}$/.test(count)) throw new UsageError('The number of replicas must be an integer from 1 to 1000.');
  const replicas = Number(count);
  if (options.dryRun === true) return planScale(fleetOf(options), { name, replicas }, options);
  const { fleet, id } = await agreed(name, `Scale ${oneLine(name)} to ${count} replicas?`, options);
  const params = { path: { id } };
  const { deployment } = await reply(fleet.POST('/api/v1/deployments/{id}/scale', { params, body: { replicas } }));
  return finish(fleet, deployment, options);
};

async function planScale(
  fleet: Fleet,
  { name, replicas }: { readonly name: string; readonly replicas: number },
  { output }: Common,
): Promise<ExitCode> {
  const deployment = await deploymentOf(fleet, name);
  const body = { deployment_id: deployment.id, replicas };
  const plan = await reply(fleet.POST('/api/v1/deployments/plan', { body }));
  refuseUnlessPossible(plan);
  tellRefusals(plan);
  await print(plan, {
    format: output,
    as: () => ({
      columns: ['ACTION', 'OBJECT', 'MEMBERS'],
      rows: plan.changes.map(({ action, object, paths }) => [action, object, paths.join(' ')]),
    }),
  });
  return deployment.replicas === replicas ? exitCodes.done : exitCodes.changes;
}

export const restart: Action<OperationOptions> = async ([name = ''], options) => {
  const { fleet, id } = await agreed(name, `Restart all replicas of ${oneLine(name)}?`, options);
  const { deployment } = await reply(fleet.POST('/api/v1/deployments/{id}/restart', { params: { path: { id } } }));
  return finish(fleet, deployment, options);
};

interface RollbackOptions extends OperationOptions {
  readonly to?: number;
}

export const rollback: Action<RollbackOptions> = async ([name = ''], options) => {
  const goal = options.to === undefined ? 'the previous generation' : `generation ${options.to}`;
  const { fleet, id } = await agreed(name, `Roll ${oneLine(name)} back to ${goal}?`, options);
  const body = given({ generation: options.to });
  const { deployment } = await reply(
    fleet.POST('/api/v1/deployments/{id}/rollback', { params: { path: { id } }, body }),
  );
  return finish(fleet, deployment, options);
};

interface OpenOptions extends Common {
  /** False: only print the address. */
  readonly browser: boolean;
}

/** Opens the web page of a deployment, or the console of the service. */
export const open: Action<OpenOptions> = async ([name], options) => {
  const address = name === undefined ? await consoleOf(options) : await webPageOf(fleetOf(options), name);
  writeLine(oneLine(address));
  if (options.browser && process.stdout.isTTY) (await import('../browser.ts')).openInBrowser(address);
  return undefined;
};

const consoleOf = async (options: Common): Promise<string> => (await import('../target.ts')).targetOf(options).url;

async function webPageOf(fleet: Fleet, name: string): Promise<string> {
  const { endpoints, name: ownName, phase, message } = await deploymentOf(fleet, name);
  const page = endpoints.find(({ scheme }) => scheme !== null);
  if (page) return `${page.scheme}://${page.address}/`;
  const [first] = endpoints;
  if (first) return first.address;
  throw new Failure(`${ownName} has no address: ${phase} ${message}`);
}
