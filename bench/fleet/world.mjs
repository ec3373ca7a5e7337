// A fleet with simulated hosts that are registered, and what the phases of the bench do with it.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { createClient, sendOnce } from '../shared/client.mjs';
import { startEngines, startFleet } from './processes.mjs';

const WORKLOADS = 10;
const POLL_MS = 100;
const HOSTS_TIMEOUT_MS = 120_000;
/** More than the number of requests that wait at the same time. */
const CONNECTIONS = 256;

/**
 * Does some work for each of the items, for a number of them at the same time.
 * @returns the results, in the order of the items
 */
export async function onEach(items, atOnce, work) {
  const results = [];
  const waiting = items.entries();
  const loop = async () => {
    for (const [index, item] of waiting) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
  return results;
}

/**
 * Starts a fleet with hosts that are online, and workloads. A host has room for as many deployments
 * as it has CPUs.
 */
export async function startWorld({ hosts, cpus }) {
  const engines = await startEngines({ hosts, cpus });
  const fleet = await startFleet().catch(async (error) => {
    await engines.stop();
    throw error;
  });
  const database = new pg.Client({ connectionString: fleet.databaseUrl });
  const world = new World({ engines, fleet, database });
  try {
    await database.connect();
    await world.prepare();
    return world;
  } catch (error) {
    await world.stop();
    throw error;
  }
}

class World {
  #fleet;
  #database;
  #workloads = [];
  #created = 0;
  /** The latest revision of all workloads. */
  #revision = 1;
  /** The hosts, in the order of their numbers in `engines`. */
  hostIds = [];
  /** The replicas that run. Requests go to the first one. */
  replicas;
  memory = 0;
  /** The responses to creations that were rejected, and to no other requests. */
  rejections = [];

  constructor({ engines, fleet, database }) {
    this.engines = engines;
    this.#fleet = fleet;
    this.#database = database;
    this.replicas = [fleet.replica];
  }

  get url() {
    return this.replicas[0].url;
  }

  /** All hosts, as targets of deployments. */
  get targets() {
    return this.hostIds.map((host_id) => ({ host_id }));
  }

  /** The number of requests to all hosts so far. */
  async engineCalls() {
    return Object.values(await this.engines.ask('GET', '/calls')).reduce((sum, count) => sum + count, 0);
  }

  get viewer() {
    return this.#fleet.tokens.viewer;
  }

  /** As for `cpuDuring`. */
  cpu = () => this.replicas.reduce((sum, replica) => sum + replica.cpu(), 0);
  databaseCpu = () => this.#fleet.databaseCpu();

  /** Starts a replica, which receives the requests from now on. */
  async startReplica() {
    this.replicas.unshift(await this.#fleet.startReplica());
  }

  /** Kills the replica that has run for the longest time. */
  async killOldest() {
    this.noteMemory();
    await this.replicas.pop().kill();
  }

  /** Remembers the peak memory of the replicas. @returns the highest so far, in MB */
  noteMemory() {
    this.memory = Math.max(this.memory, ...this.replicas.map((replica) => replica.memory()));
    return this.memory;
  }

  /** @returns the body of the response. @throws if the request fails */
  async ask(method, at, body) {
    const request = { method, path: `/api/v1${at}`, key: this.#fleet.tokens.admin, body };
    return JSON.parse((await sendOnce(this.url, request)).body);
  }

  /** Some work with a client of the fleet. @throws if a connection is opened again */
  async #withClient(connections, work) {
    const client = createClient({ url: this.url, connections });
    try {
      const result = await work(client);
      client.end();
      return result;
    } finally {
      client.close();
    }
  }

  /** Requests a deployment. @returns the status of the response, and its body */
  async #request(client, target) {
    const body = this.newDeployment(target);
    const request = { method: 'POST', path: '/api/v1/deployments', key: this.#fleet.tokens.admin, body };
    const response = await client.send(request);
    return { status: response.status, text: `${response.body}` };
  }

  /**
   * Requests deployments on a number of connections.
   * @param targets the hosts, in turn. By default, the fleet chooses them
   * @returns the responses
   */
  requestEach(count, connections, targets = [null]) {
    return this.#withClient(connections, (client) =>
      onEach(Array(count).fill(), connections, (_, index) => this.#request(client, targets[index % targets.length])),
    );
  }

  async query(sql, values = []) {
    const { rows } = await this.#database.query(sql, values);
    return rows;
  }

  async prepare() {
    const registered = await onEach(this.engines.endpoints, 8, (endpoint, index) =>
      this.ask('POST', '/hosts', {
        name: `host-${index + 1}`,
        engine: 'docker',
        endpoint,
        network_types: ['mesh'],
        addresses: { mesh: '127.0.0.1' },
      }),
    );
    this.hostIds = registered.map(({ host }) => host.id);
    for (let number = 1; number <= WORKLOADS; number += 1) {
      const { workload } = await this.ask('POST', '/workloads', {
        name: `app-${number}`,
        image_name: `team/app-${number}`,
        cpu_request: '1',
        memory_request: '1Gi',
        env_schema: [{ name: 'GREETING', required: true }],
        ports: [{ containerPort: 8080 }],
      });
      this.#workloads.push(workload.id);
    }
    const online = await this.until(() => this.onlineHosts(), this.hostIds.length, HOSTS_TIMEOUT_MS);
    if (!online.reached) throw new Error(`only ${online.count} hosts are online`);
  }

  async onlineHosts() {
    const [{ count }] = await this.query(`SELECT count(*)::int FROM hosts WHERE reachability = 'online'`);
    return count;
  }

  /**
   * The body of a new deployment of one container with a variable and a port. By default, the fleet
   * chooses the host.
   */
  newDeployment(target = null) {
    const number = ++this.#created;
    const workload_id = this.#workloads[number % WORKLOADS];
    return { name: `deployment-${number}`, workload_id, target, env: { GREETING: `Hello from ${number}` } };
  }

  /** The ids of the deployments that were accepted. Notes the rejections. */
  #acceptedIn(responses) {
    const isAccepted = ({ status }) => status < 300;
    for (const { status, text } of responses.filter((response) => !isAccepted(response)))
      this.rejections.push(`${status} ${JSON.parse(text).detail}`);
    return responses.filter(isAccepted).map(({ text }) => JSON.parse(text).deployment.id);
  }

  /** Creates deployments. Parameters as for `requestEach`. @returns the ids of those that were accepted */
  async create(count, connections, targets) {
    return this.#acceptedIn(await this.requestEach(count, connections, targets));
  }

  /**
   * Creates deployments at a rate per second, and does not wait for one before the next.
   * @param targets the hosts, in turn. By default, the fleet chooses them
   * @returns the ids of those that were accepted
   */
  async createAtRate(count, perSecond, targets = [null]) {
    return this.#withClient(CONNECTIONS, async (client) => {
      const started = performance.now();
      const sent = [];
      for (let index = 0; index < count; index += 1) {
        await delay(Math.max(0, started + (1000 * index) / perSecond - performance.now()));
        sent.push(this.#request(client, targets[index % targets.length]));
      }
      return this.#acceptedIn(await Promise.all(sent));
    });
  }

  /** Creates applications of a specification. The fleet chooses the host of each. @returns the ids of those that were accepted */
  createApplications(count, connections, spec) {
    return this.#withClient(connections, async (client) => {
      const key = this.#fleet.tokens.admin;
      const responses = await onEach(Array(count).fill(), connections, async () => {
        const body = { name: `application-${++this.#created}`, spec };
        const { status, body: text } = await client.send({ method: 'POST', path: '/api/v1/applications', key, body });
        return { status, reply: JSON.parse(`${text}`) };
      });
      const rejected = responses.filter(({ status }) => status >= 300);
      this.rejections.push(...rejected.map(({ status, reply }) => `${status} ${reply.detail}`));
      return responses.flatMap(({ status, reply }) => (status < 300 ? [reply.application.id] : []));
    });
  }

  /** The ids of the deployments of applications. */
  async partsOf(applications) {
    const rows = await this.query('SELECT id FROM deployments WHERE application_id = ANY ($1)', [applications]);
    return rows.map(({ id }) => id);
  }

  /** Deletes applications. @returns as `until`: the number of those that are left */
  async removeApplications(ids, timeoutMs) {
    await onEach(ids, 16, (id) => this.ask('DELETE', `/applications/${id}`));
    const left = async () =>
      (await this.query('SELECT count(*)::int FROM applications WHERE id = ANY ($1)', [ids]))[0].count;
    return this.until(left, 0, timeoutMs);
  }

  /** Stores a revision of each workload with another image, which new deployments run. */
  async newImages() {
    this.#revision += 1;
    for (const id of this.#workloads) await this.ask('PUT', `/workloads/${id}`, { image_tag: `v${this.#revision}` });
  }

  /** Updates deployments to the latest revision, in an order of `updates`. @throws if one is rejected */
  async update(ids, connections, order) {
    const body = { revision: this.#revision, updates: { order } };
    const key = this.#fleet.tokens.admin;
    await this.#withClient(connections, (client) =>
      onEach(ids, connections, async (id) => {
        const response = await client.send({ method: 'PUT', path: `/api/v1/deployments/${id}`, key, body });
        if (response.status !== 200) throw new Error(`an update was rejected with ${response.status} ${response.body}`);
      }),
    );
  }

  /** The number of these deployments whose last change has succeeded. */
  async rolledOut(ids) {
    const [{ count }] = await this.query(
      `SELECT count(*)::int FROM deployments
       WHERE id = ANY ($1) AND rollout->>'state' = 'succeeded' AND (rollout->>'generation')::int = generation`,
      [ids],
    );
    return count;
  }

  untilRolledOut = (ids, timeoutMs) => this.until(() => this.rolledOut(ids), ids.length, timeoutMs);

  /** The number of these deployments, or of all, that run as requested. */
  async running(ids) {
    const [{ count }] = await this.query(
      `SELECT count(*)::int FROM deployments WHERE phase = 'running' AND observed_generation = generation
       AND ($1::uuid[] IS NULL OR id = ANY ($1))`,
      [ids],
    );
    return count;
  }

  /**
   * Waits until a count is reached.
   * @returns the last count, whether it was reached, and the milliseconds
   */
  async until(read, goal, timeoutMs) {
    const started = performance.now();
    for (;;) {
      const count = await read();
      const milliseconds = performance.now() - started;
      if (count === goal || milliseconds > timeoutMs) return { count, reached: count === goal, milliseconds };
      await delay(POLL_MS);
    }
  }

  untilRunning = (ids, timeoutMs) => this.until(() => this.running(ids), ids.length, timeoutMs);

  /**
   * Waits until deployments run. @returns for each that does, the milliseconds since it was
   * created, by its id
   */
  async timesToRunning(ids, timeoutMs) {
    const times = new Map();
    for (
      const deadline = Date.now() + timeoutMs;
      times.size < ids.length && Date.now() < deadline;
      await delay(POLL_MS)
    ) {
      const left = ids.filter((id) => !times.has(id));
      const rows = await this.query(
        `SELECT d.id, 1000 * extract(epoch FROM min(e.at) - d.created_at)::float8 AS time
         FROM deployments d JOIN deployment_events e ON e.deployment_id = d.id AND e.reason = 'running'
         WHERE d.id = ANY ($1) GROUP BY d.id`,
        [left],
      );
      for (const { id, time } of rows) times.set(id, time);
    }
    return times;
  }

  /**
   * Waits until all hosts are online, and all deployments run as requested.
   * @returns the number of those that do not
   */
  async untilConverged(timeoutMs) {
    const left = async () => {
      const [{ count }] = await this.query(
        `SELECT ((SELECT count(*) FROM hosts WHERE reachability <> 'online')
           + (SELECT count(*) FROM deployments WHERE phase <> 'running' OR observed_generation IS DISTINCT FROM generation))::int AS count`,
      );
      return count;
    };
    return (await this.until(left, 0, timeoutMs)).count;
  }

  /** Deletes deployments. @returns as `until`: the number of those that are left */
  async remove(ids, timeoutMs) {
    const existing = (await this.query('SELECT id FROM deployments WHERE id = ANY ($1) AND NOT deleting', [ids])).map(
      ({ id }) => id,
    );
    await onEach(existing, 16, (id) => this.ask('DELETE', `/deployments/${id}`));
    const left = async () =>
      (await this.query('SELECT count(*)::int FROM deployments WHERE id = ANY ($1)', [ids]))[0].count;
    return this.until(left, 0, timeoutMs);
  }

  async stop() {
    await this.#database.end();
    await this.#fleet.stop();
    await this.engines.stop();
  }
}
