import assert from 'node:assert/strict';
import { newRollout } from '../../../src/deployments/updates/rollout.ts';
import { DEFAULT_DOCKER_TIMINGS as timing } from '../../../src/engines/docker/client.ts';
import type { FoundContainer, RolloutRules } from '../../../src/engines/docker/containers.ts';
import { isCurrent, pairByOrdinal, planOf, processOf, type Step, stateOf } from '../../../src/engines/docker/plan.ts';
import type { Inspected } from '../../../src/engines/docker/schemas.ts';
import { stateAfter } from '../../../src/reconciler/crash-loop.ts';
import { rolloutRules } from '../../../src/reconciler/rollout/rules.ts';
import { rolloutAfter } from '../../../src/reconciler/rollout/state.ts';
import { backoffOf, DEFAULT_TIMINGS } from '../../../src/reconciler/timings.ts';
import { type DockerManifest, renderDocker } from '../../../src/render/docker.ts';
import { aHost, aRendering, aSpec } from '../../render/renderings.ts';

/** What a program does when it is started. */
type Program = 'runs' | 'ends' | 'crashes at times';

/** A source of numbers from 0 to `below` - 1. */
export type Chance = (below: number) => number;

export interface Given {
  readonly replicas: number;
  readonly extra: boolean;
  /** The program of the new generation. That of the old one runs. */
  readonly program: Program;
  /** Whether instances of the old generation crash at times. */
  readonly oldCrash?: boolean;
}

/** A rule that a test removes: how it changes what the planner reads, or what it decides. */
export interface Removed {
  readonly rules?: (rules: RolloutRules) => RolloutRules;
  readonly found?: (found: FoundContainer) => FoundContainer;
  readonly steps?: (steps: readonly Step[]) => readonly Step[];
  /** Whether a new container is created before the old one is removed. */
  readonly overlaps?: boolean;
}

interface Container {
  readonly id: string;
  readonly name: string;
  readonly ordinal: number;
  readonly digest: string;
  readonly generation: number;
  status: 'created' | 'running' | 'exited';
  startedAt: number;
  finishedAt: number;
}

type Row = Parameters<typeof rolloutAfter>[0]['row'] &
  Parameters<typeof rolloutRules>[0] &
  Parameters<typeof stateAfter>[0];

/** A pass of a worker was ended before its result was written. */
class Killed extends Error {}

const PORT = { containerPort: 80, protocol: 'TCP' as const };
/** With the time in which addresses are withdrawn, shorter than the time in which a container settles. */
const PASS_MS = 700;

const manifests = new Map<string, DockerManifest<'values'>>();

/** The manifest of the old or the new generation, with all containers that it can have. */
function manifestOf(body: 'old' | 'new', containers: number): DockerManifest<'values'> {
  const key = `${body} ${containers}`;
  const known = manifests.get(key);
  if (known) return known;
  const rendering = aRendering(aSpec({ ports: [PORT] }), {
    replicas: containers,
    env: [{ name: 'BODY', value: body }],
  });
  const made = renderDocker(rendering, aHost(rendering));
  manifests.set(key, made);
  return made;
}

/** The most containers of a deployment. */
const MAX_CONTAINERS = 5;

const oldDigests = new Set(manifestOf('old', MAX_CONTAINERS).containers.map(({ body }) => body.Labels['fleet/body']));

/**
 * A deployment on a host that is updated: the real planner and the real state of its rollout, with a simulated engine, row and clock.
 * It fails if an instance too many exists, or if an instance ends that the row still shows to clients although another one serves.
 */
export class Update {
  readonly #chance: Chance;
  readonly #given: Given;
  readonly #removed: Removed;
  #containers: Container[] = [];
  #now = Date.parse('2026-01-01T00:00:00Z');
  #count = 0;
  #steps = 0;
  #body: 'old' | 'new' = 'old';
  #goodBody: 'old' | 'new' = 'old';
  #extra = 0;
  #row: Row;
  /** The names that the row shows to clients. */
  #shown: string[] = [];
  /** The fewest instances that served at a time since the change. */
  fewest: number;

  constructor(given: Given, chance: Chance, removed: Removed = {}) {
    this.#given = given;
    this.#chance = chance;
    this.#removed = removed;
    for (const { name, ordinal, body } of manifestOf('old', given.replicas).containers) {
      this.#containers.push({
        ...this.#aContainer(name, ordinal, body.Labels['fleet/body'] ?? ''),
        status: 'running',
        startedAt: this.#now - 600_000,
      });
    }
    const shown = this.#containers.map(({ name }) => ({ name, phase: 'running', message: '', restarts: 0 }));
    this.#row = {
      generation: 1,
      observed_generation: 1,
      good_generation: 1,
      good_is_same: null,
      rollout: null,
      rollout_elapsed_ms: 0,
      rollout_observed_at: null,
      updates: { order: 'auto', ready_seconds: 5, deadline_seconds: 1800, on_failure: 'auto' },
      cluster_id: null,
      replicas: given.replicas,
      now: new Date(this.#now),
      instances: shown,
      crash_loop: null,
      failures: 0,
    };
    this.#shown = shown.map(({ name }) => name);
    this.fewest = given.replicas;
    this.#change('new');
  }

  get state(): string | undefined {
    return this.#row.rollout?.generation === this.#row.generation ? this.#row.rollout.state : undefined;
  }

  /** Bodies and states of the containers, by ordinal. */
  get containers(): string[] {
    return this.#containers
      .toSorted((one, other) => one.ordinal - other.ordinal)
      .map(({ ordinal, digest, status }) => `${ordinal} ${this.#bodyOf(digest)} ${status}`);
  }

  get hasEnded(): boolean {
    return ['succeeded', 'rolled_back', 'held', 'failed'].includes(this.state ?? '');
  }

  /** The number of steps so far. A worker can be killed before each of them. */
  get steps(): number {
    return this.#steps;
  }

  /** The database is restored from a backup of the time before the change: its next generation is after that of the engine. */
  restoreBackup(): void {
    const generation = Math.max(...this.#containers.map((container) => container.generation)) + 1;
    this.#body = 'old';
    this.#extra = 0;
    this.#row = {
      ...this.#row,
      generation,
      observed_generation: 1,
      good_generation: 1,
      good_is_same: true,
      rollout: null,
    };
  }

  /** A pass of a worker, which is killed before a step with this number. @returns whether it was not killed */
  pass(killedBefore = Number.POSITIVE_INFINITY): boolean {
    this.#now += PASS_MS;
    this.#row = { ...this.#row, now: new Date(this.#now) };
    try {
      this.#reconcile(killedBefore);
      return true;
    } catch (error) {
      if (error instanceof Killed) return false;
      throw error;
    } finally {
      this.#live();
    }
  }

  #change(body: 'old' | 'new'): void {
    this.#body = body;
    this.#extra = this.#given.extra ? 1 : 0;
    this.#row = { ...this.#row, generation: this.#row.generation + 1, good_is_same: false };
  }

  #reconcile(killedBefore: number): void {
    const row = this.#row;
    if (row.rollout?.state === 'returning') {
      this.#step(killedBefore);
      const generation = row.generation + 1;
      this.#body = this.#goodBody;
      this.#row = {
        ...row,
        generation,
        rollout: newRollout(generation, row.generation),
        rollout_elapsed_ms: 0,
        rollout_observed_at: null,
      };
      return;
    }
    const given = rolloutRules(row, DEFAULT_TIMINGS);
    const rules = given && this.#removed.rules ? this.#removed.rules(given) : given;
    const manifest = manifestOf(this.#body, row.replicas + this.#extra);
    const before = this.#found();
    const { next_try_at } = row.crash_loop ?? {};
    const isDue = next_try_at != null && new Date(next_try_at) <= row.now;
    const retryAfter = isDue ? backoffOf(row.failures, DEFAULT_TIMINGS) / 2 : undefined;
    const seen = this.#removed.found ? before.map(this.#removed.found) : before;
    const planned = planOf(seen, manifest, { timing, retryAfter, rollout: rules });
    const steps = this.#removed.steps ? this.#removed.steps(planned) : planned;
    for (const step of steps.filter(({ do: what }) => what !== 'create')) this.#act(step, killedBefore);
    for (const step of steps.filter(({ do: what }) => what === 'create')) this.#act(step, killedBefore);
    this.#write(before, manifest, steps);
  }

  #write(before: readonly FoundContainer[], manifest: DockerManifest<'values'>, steps: readonly Step[]): void {
    const row = this.#row;
    const { pairs, surplus } = pairByOrdinal(this.#found(), manifest);
    const leaving = steps.flatMap((step) => (step.do === 'withdraw' ? [step.found.name] : []));
    const instances = pairs.flatMap((pair) => {
      const { found } = pair;
      if (!found) return [];
      const { phase, message } = stateOf(found, timing);
      return [{ name: found.name, phase, message, restarts: 0, current: isCurrent(pair), ready: phase === 'running' }];
    });
    const ofSurplus = surplus.map(({ name }) => ({
      name,
      phase: 'stopping' as const,
      message: '',
      restarts: 0,
      current: false,
      ready: false,
    }));
    const isDown = instances.some(({ phase, current }) => current && phase === 'crashed');
    const { observed, crashLoop, failures } = stateAfter(
      row,
      {
        phase: 'starting',
        reason: isDown ? 'CrashLoop' : null,
        message: '',
        instances: [...instances, ...ofSurplus],
        processes: pairs.flatMap(({ found }) => (found && processOf(found, timing)) ?? []),
        processesBefore: before.flatMap((found) => processOf(found, timing) ?? []),
        endpoints: [],
        volumes: [],
        actions: [],
        leaving,
        next: 'soon',
      },
      { now: row.now, delayOf: (count) => backoffOf(count, DEFAULT_TIMINGS), resync: 60_000, progress: 1000 },
    );
    const after = rolloutAfter({ row, observed, isService: true, canWrite: false, drain: DEFAULT_TIMINGS.drain });
    this.#shown = instances.flatMap(({ name, ready }) => (ready && !leaving.includes(name) ? [name] : []));
    this.#row = {
      ...row,
      observed_generation: row.generation,
      instances: observed.instances,
      crash_loop: crashLoop,
      failures,
    };
    if (!after) return;
    const { rollout, elapsedMs, isGood } = after;
    this.#row = { ...this.#row, rollout, rollout_elapsed_ms: elapsedMs, rollout_observed_at: row.now };
    if (!isGood) return;
    this.#extra = 0;
    this.#goodBody = this.#body;
    this.#row = { ...this.#row, good_generation: row.generation };
  }

  #step(killedBefore: number): void {
    this.#steps += 1;
    if (this.#steps >= killedBefore) throw new Killed();
  }

  #act(step: Step, killedBefore: number): void {
    if (step.do === 'create') {
      const { rendered, replaces } = step;
      const { replicas } = this.#row;
      if (replaces && this.#removed.overlaps !== true) this.#remove(replaces, killedBefore);
      this.#step(killedBefore);
      const isTaken = this.#containers.some(({ name }) => name === rendered.name);
      if (isTaken && this.#removed.overlaps !== true) return;
      const made = this.#aContainer(rendered.name, rendered.ordinal, rendered.body.Labels['fleet/body'] ?? '');
      this.#containers.push(made);
      assert(this.#containers.length <= replicas + (this.#given.extra ? 1 : 0), 'more instances than were allocated');
      if (replaces && this.#removed.overlaps === true) this.#remove(replaces, killedBefore);
      this.#start(made.id, killedBefore);
    } else if (step.do === 'remove') this.#remove(step.found, killedBefore);
    else if (step.do === 'start') this.#start(step.found.id, killedBefore);
    this.fewest = Math.min(this.fewest, this.#serving().length);
  }

  #remove({ id, name }: FoundContainer, killedBefore: number): void {
    this.#step(killedBefore);
    const serving = this.#serving();
    const serves = serving.some((container) => container.id === id);
    const isShown = serves && this.#shown.includes(name);
    assert(
      !isShown || serving.length === 1,
      'an instance ends that clients are told to use, although another one serves',
    );
    this.#containers = this.#containers.filter((container) => container.id !== id);
    this.fewest = Math.min(this.fewest, this.#serving().length);
  }

  #start(id: string, killedBefore: number): void {
    this.#step(killedBefore);
    const container = this.#containers.find((each) => each.id === id);
    if (!container) return;
    container.status = 'running';
    container.startedAt = this.#now;
  }

  /** What happens between two passes. */
  #live(): void {
    for (const container of this.#containers) {
      if (container.status === 'running' && this.#fails(container)) {
        container.status = 'exited';
        container.finishedAt = this.#now + 1;
      }
    }
  }

  #fails({ digest }: Container): boolean {
    if (this.#bodyOf(digest) === 'old') return this.#given.oldCrash === true && this.#chance(12) === 0;
    const { program } = this.#given;
    return program === 'ends' || (program === 'crashes at times' && this.#chance(3) === 0);
  }

  #bodyOf(digest: string): 'old' | 'new' {
    return oldDigests.has(digest) ? 'old' : 'new';
  }

  #serving(): Container[] {
    return this.#containers.filter(
      ({ status, startedAt }) => status === 'running' && this.#now - startedAt >= timing.settled,
    );
  }

  #aContainer(name: string, ordinal: number, digest: string): Container {
    this.#count += 1;
    const generation = this.#row?.generation ?? 1;
    return { id: `c${this.#count}`, name, ordinal, digest, generation, status: 'created', startedAt: 0, finishedAt: 0 };
  }

  #found(): FoundContainer[] {
    return this.#containers.map(({ id, name, ordinal, digest, generation, status, startedAt, finishedAt }) => {
      const details: Inspected = {
        Id: id,
        Name: `/${name}`,
        RestartCount: 0,
        State: {
          Status: status,
          Running: status === 'running',
          Paused: false,
          Restarting: false,
          OOMKilled: false,
          ExitCode: status === 'exited' ? 1 : 0,
          StartedAt: startedAt,
          FinishedAt: finishedAt,
        },
        Image: '',
        Config: { Labels: {} },
        HostConfig: {
          Memory: 0,
          RestartPolicy: { Name: 'on-failure', MaximumRetryCount: 3 },
          DeviceRequests: false,
          Devices: false,
          PortBindings: { '80/tcp': [{ HostIp: '', HostPort: '20000' }] },
        },
      };
      return { id, name, ordinal, digest, generation, details, at: this.#now };
    });
  }
}

/** Passes until the rollout has ended and nothing is left to do. */
export function untilEnd(update: Update, kills: (update: Update) => number | undefined = () => undefined): Update {
  let calm = 0;
  for (let count = 0; count < 2000 && calm < 3; count += 1) {
    const before = update.steps;
    const isDone = update.pass(kills(update));
    calm = isDone && update.hasEnded && update.steps === before ? calm + 1 : 0;
  }
  assert(calm === 3, `the rollout does not end: ${update.state}, ${update.containers.join(', ')}`);
  return update;
}
