// A simulated host with a container engine. It keeps containers, volumes, networks and images in
// memory, and runs nothing: a container that was started is running at once, until it is stopped or
// killed. Only the command `false` ends at once, and with `jobsEnd` a container that is not restarted. An image with the
// tag `missing` cannot be pulled.
import { createHash, randomBytes, randomUUID } from 'node:crypto';

/** The number of past events that a host keeps for `since`, as Docker does. */
const EVENTS_KEPT = 256;
const ZERO_TIME = '0001-01-01T00:00:00Z';
const KILLED = 137;
const isOne = (parameter) => ['1', 'true'].includes(parameter);

/** A failed request. The message is in the words of Docker, because clients read it. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export class EngineHost {
  #name;
  #cpus;
  #jobsEnd;
  #containers = new Map();
  #ids = new Map(); // by name
  #volumes = new Map();
  #networks = new Map();
  #images = new Set();
  #ports = new Map(); // the container that has bound a port, by address, port and protocol
  #events = [];
  #listeners = new Set();
  #identity = randomUUID();
  /**
   * All containers that were created, also those that were removed, in the order of their creation.
   */
  creations = [];

  /** Its memory is 2 GiB per CPU. */
  constructor({ name, cpus, jobsEnd = false }) {
    this.#name = name;
    this.#cpus = cpus;
    this.#jobsEnd = jobsEnd;
    this.createNetwork({ Name: 'bridge', Driver: 'bridge' });
  }

  version() {
    const Version = '27.5.1';
    return { Version, ApiVersion: '1.47', MinAPIVersion: '1.24', Os: 'linux', Arch: 'amd64', KernelVersion: '6.1.0' };
  }

  info() {
    const states = [...this.#containers.values()].map(({ State }) => State.Status);
    return {
      ...{ ID: this.#identity, Name: this.#name, ServerVersion: this.version().Version, OSType: 'linux' },
      ...{ NCPU: this.#cpus, MemTotal: this.#cpus * 2 ** 31, Architecture: 'x86_64', Images: this.#images.size },
      Containers: states.length,
      ContainersRunning: states.filter((state) => state === 'running').length,
    };
  }

  createContainer(name, { HostConfig = {}, NetworkingConfig = {}, ...Config }) {
    if (!this.#images.has(Config.Image)) throw new Refused(404, `No such image: ${Config.Image}`);
    if (this.#ids.has(name)) {
      const other = this.#ids.get(name);
      throw new Refused(409, `Conflict. The container name "/${name}" is already in use by container "${other}".`);
    }
    const { NetworkMode = 'bridge' } = HostConfig;
    const Networks = { [NetworkMode]: {}, ...NetworkingConfig.EndpointsConfig };
    for (const network of Object.keys(Networks)) this.network(network);
    for (const { Type, Source } of HostConfig.Mounts ?? []) if (Type === 'volume') this.createVolume({ Name: Source });
    const Created = new Date().toISOString();
    const container = {
      ...{ Id: randomBytes(32).toString('hex'), Name: `/${name}`, Created, Image: idOfImage(Config.Image) },
      RestartCount: 0,
      State: {
        ...{ Status: 'created', Running: false, Paused: false, Restarting: false, OOMKilled: false, Dead: false },
        ...{ Pid: 0, ExitCode: 0, Error: '', StartedAt: ZERO_TIME, FinishedAt: ZERO_TIME },
      },
      Config: { Labels: {}, ...Config },
      HostConfig: { RestartPolicy: { Name: 'no', MaximumRetryCount: 0 }, ...HostConfig },
      NetworkSettings: { Networks },
    };
    this.#containers.set(container.Id, container);
    this.#ids.set(name, container.Id);
    this.creations.push({
      at: Date.now(),
      removedAt: null,
      host: this.#name,
      name,
      id: container.Id,
      labels: container.Config.Labels,
    });
    this.#emitContainer('create', container);
    return { Id: container.Id, Warnings: [] };
  }

  /** @returns whether it was not running */
  startContainer(idOrName) {
    const container = this.container(idOrName);
    const { State: state, Config } = container;
    if (state.Running) return false;
    for (const [name, { IPAMConfig }] of Object.entries(container.NetworkSettings.Networks)) {
      this.network(name);
      if (this.#hasAddress(name, IPAMConfig?.IPv4Address)) throw new Refused(403, 'Address already in use');
    }
    const bindings = bindingsOf(container);
    const taken = bindings.find((binding) => this.#ports.has(binding));
    if (taken) {
      const [, address, port] = /^(.*):(\d+)\//.exec(taken);
      throw new Refused(
        500,
        `failed to set up container networking: Bind for ${address}:${port} failed: port is already allocated`,
      );
    }
    for (const binding of bindings) this.#ports.set(binding, container.Id);
    Object.assign(state, {
      Status: 'running',
      Running: true,
      Pid: 1,
      ExitCode: 0,
      StartedAt: new Date().toISOString(),
    });
    if (Config.Healthcheck) state.Health = { Status: 'healthy', FailingStreak: 0, Log: [{ ExitCode: 0, Output: '' }] };
    this.#emitContainer('start', container);
    if ([Config.Entrypoint ?? [], Config.Cmd ?? []].flat()[0] === 'false') this.#end(container, 1);
    else if (this.#jobsEnd && container.HostConfig.RestartPolicy.Name === 'no') this.#end(container, 0);
    return true;
  }

  /** @returns whether it was running */
  stopContainer(idOrName) {
    const container = this.container(idOrName);
    if (!container.State.Running) return false;
    this.#end(container, 0);
    this.#emitContainer('stop', container);
    return true;
  }

  killContainer(idOrName) {
    const container = this.container(idOrName);
    if (!container.State.Running) throw new Refused(409, `Container ${container.Id} is not running`);
    this.#end(container, KILLED);
  }

  /** @returns whether it was not paused before */
  pauseContainer(idOrName, Paused) {
    const container = this.container(idOrName);
    if (!container.State.Running) throw new Refused(409, `Container ${container.Id} is not running`);
    Object.assign(container.State, { Paused, Status: Paused ? 'paused' : 'running' });
    this.#emitContainer(Paused ? 'pause' : 'unpause', container);
  }

  removeContainer(idOrName, force) {
    const container = this.container(idOrName);
    if (container.State.Running) {
      if (!isOne(force)) {
        const advice = 'stop the container before removing or force remove';
        throw new Refused(409, `cannot remove container "${container.Name}": container is running: ${advice}`);
      }
      this.#end(container, KILLED);
    }
    this.#containers.delete(container.Id);
    this.#ids.delete(container.Name.slice(1));
    this.creations.find(({ id }) => id === container.Id).removedAt = Date.now();
    this.#emitContainer('destroy', container);
  }

  /** @throws Refused if it does not exist */
  container(idOrName) {
    const container = this.#containers.get(idOrName) ?? this.#containers.get(this.#ids.get(idOrName));
    if (!container) throw new Refused(404, `No such container: ${idOrName}`);
    return container;
  }

  containers({ all = 'false', filters = {} }) {
    const isListed = ({ Id, Name, Config, State }) =>
      (isOne(all) || filters.status || State.Running) &&
      hasLabels(Config.Labels, filters.label) &&
      isAmong(State.Status, filters.status) &&
      (!filters.id || filters.id.some((id) => Id.startsWith(id))) &&
      (!filters.name || filters.name.some((name) => Name.includes(name)));
    return [...this.#containers.values()].filter(isListed).map((container) => ({
      ...{ Id: container.Id, Names: [container.Name], Image: container.Config.Image, ImageID: container.Image },
      ...{ Command: (container.Config.Cmd ?? []).join(' '), Created: Math.floor(Date.parse(container.Created) / 1000) },
      ...{ Labels: container.Config.Labels, State: container.State.Status, Status: describe(container.State) },
      ...{
        Ports: portsOf(container),
        Mounts: [],
        HostConfig: { NetworkMode: container.HostConfig.NetworkMode ?? 'bridge' },
      },
      NetworkSettings: container.NetworkSettings,
    }));
  }

  createVolume({ Name = randomBytes(32).toString('hex'), Driver = 'local', Labels = {} }) {
    const existing = this.#volumes.get(Name);
    if (existing) return existing;
    const volume = {
      Name,
      Driver,
      Labels,
      Scope: 'local',
      Mountpoint: `/volumes/${Name}`,
      CreatedAt: new Date().toISOString(),
    };
    this.#volumes.set(Name, volume);
    this.#emit('volume', 'create', { id: Name, attributes: { driver: Driver } });
    return volume;
  }

  volume(name) {
    const volume = this.#volumes.get(name);
    if (!volume) throw new Refused(404, `get ${name}: no such volume`);
    return volume;
  }

  volumes({ filters = {} }) {
    return [...this.#volumes.values()].filter(
      ({ Name, Labels }) => hasLabels(Labels, filters.label) && isAmong(Name, filters.name),
    );
  }

  removeVolume(name) {
    this.volume(name);
    const uses = ({ HostConfig }) => (HostConfig.Mounts ?? []).some(({ Source }) => Source === name);
    const user = [...this.#containers.values()].find(uses);
    if (user) throw new Refused(409, `remove ${name}: volume is in use - [${user.Id}]`);
    this.#volumes.delete(name);
    this.#emit('volume', 'destroy', { id: name, attributes: { driver: 'local' } });
  }

  createNetwork({ Name, Driver = 'bridge', Labels = {}, IPAM = {} }) {
    if ([...this.#networks.values()].some((network) => network.Name === Name))
      throw new Refused(409, `network with name ${Name} already exists`);
    const { Config = [] } = IPAM;
    const subnetsOf = (network) => network.IPAM.Config.map(({ Subnet }) => Subnet);
    const used = [...this.#networks.values()].flatMap(subnetsOf);
    if (Config.some(({ Subnet }) => used.some((other) => overlap(Subnet, other))))
      throw new Refused(403, 'invalid pool request: Pool overlaps with other one on this address space');
    const network = {
      ...{ Name, Id: randomBytes(32).toString('hex'), Driver, Labels, Scope: 'local', Containers: {} },
      IPAM: { Driver: 'default', Config },
    };
    this.#networks.set(network.Id, network);
    return network;
  }

  network(idOrName) {
    const network = [...this.#networks.values()].find(({ Id, Name }) => Id === idOrName || Name === idOrName);
    if (!network) throw new Refused(404, `network ${idOrName} not found`);
    return network;
  }

  networks({ filters = {} }) {
    return [...this.#networks.values()].filter(
      ({ Name, Labels }) => hasLabels(Labels, filters.label) && isAmong(Name, filters.name),
    );
  }

  removeNetwork(idOrName) {
    const { Id, Name } = this.network(idOrName);
    if ([...this.#containers.values()].some((each) => each.State.Running && Name in each.NetworkSettings.Networks))
      throw new Refused(403, `error while removing network: network ${Name} has active endpoints`);
    this.#networks.delete(Id);
  }

  connectNetwork(idOrName, { Container, EndpointConfig = {} }) {
    const { Name } = this.network(idOrName);
    const { Networks } = this.container(Container).NetworkSettings;
    if (Name in Networks) throw new Refused(403, `endpoint with name ${Container} already exists in network ${Name}`);
    Networks[Name] = EndpointConfig;
  }

  /** Whether a container that runs has the address in a network. */
  #hasAddress(network, address) {
    return (
      address !== undefined &&
      [...this.#containers.values()].some(
        ({ State, NetworkSettings: { Networks } }) =>
          State.Running && Networks[network]?.IPAMConfig?.IPv4Address === address,
      )
    );
  }

  pullImage(name) {
    this.#images.add(name);
    this.#emit('image', 'pull', { id: name, attributes: { name } });
  }

  image(name) {
    if (!this.#images.has(name)) throw new Refused(404, `No such image: ${name}`);
    return { Id: idOfImage(name), RepoTags: [name], Architecture: 'amd64', Os: 'linux', Size: 1 };
  }

  /** Its tags never move. */
  distribution(name) {
    return {
      Descriptor: { mediaType: 'application/vnd.oci.image.index.v1+json', digest: idOfImage(name), size: 1 },
      Platforms: [],
    };
  }

  images() {
    return [...this.#images].map((name) => this.image(name));
  }

  /**
   * Sends past events since a time in seconds, and all future ones that match the filters.
   * @returns a function that ends this
   */
  watch({ since, filters = {} }, send) {
    const matches = ({ Type, Action, Actor }) =>
      isAmong(Type, filters.type) &&
      isAmong(Action, filters.event) &&
      hasLabels(Actor.Attributes, filters.label) &&
      (!filters.container || (Type === 'container' && isAmong(Actor.ID, filters.container)));
    const sendMatching = (event) => matches(event) && send(event);
    if (since !== undefined)
      for (const event of this.#events) if (event.timeNano / 1e9 >= Number(since)) sendMatching(event);
    this.#listeners.add(sendMatching);
    return () => this.#listeners.delete(sendMatching);
  }

  #end(container, ExitCode) {
    for (const binding of bindingsOf(container)) this.#ports.delete(binding);
    const FinishedAt = new Date().toISOString();
    Object.assign(container.State, { Status: 'exited', Running: false, Paused: false, Pid: 0, ExitCode, FinishedAt });
    this.#emitContainer('die', container, { exitCode: String(ExitCode) });
  }

  #emitContainer(action, { Id, Name, Config }, more = {}) {
    const attributes = { ...Config.Labels, image: Config.Image, name: Name.slice(1), ...more };
    this.#emit('container', action, { id: Id, attributes });
  }

  #emit(Type, Action, { id, attributes }) {
    const now = Date.now();
    const event = { Type, Action, Actor: { ID: id, Attributes: attributes }, scope: 'local' };
    Object.assign(event, { time: Math.floor(now / 1000), timeNano: now * 1e6 });
    this.#events.push(event);
    if (this.#events.length > EVENTS_KEPT) this.#events.shift();
    for (const listener of this.#listeners) listener(event);
  }
}

const idOfImage = (name) => `sha256:${createHash('sha256').update(name).digest('hex')}`;

const isAmong = (value, values) => !values || values.includes(value);

const hasLabels = (labels, required = []) =>
  required.every((label) => {
    const [key, ...rest] = label.split('=');
    return rest.length === 0 ? key in labels : labels[key] === rest.join('=');
  });

/** The addresses and ports that a container binds while it runs. */
const bindingsOf = ({ HostConfig }) =>
  Object.entries(HostConfig.PortBindings ?? {}).flatMap(([key, bindings]) =>
    bindings.map(({ HostIp, HostPort }) => `${HostIp || '0.0.0.0'}:${HostPort}/${key.split('/')[1]}`),
  );

const portsOf = ({ HostConfig, State }) =>
  Object.entries(HostConfig.PortBindings ?? {}).flatMap(([key, bindings]) => {
    const [port, Type] = key.split('/');
    const published = bindings.map(({ HostIp, HostPort }) => ({
      IP: HostIp || '0.0.0.0',
      PublicPort: Number(HostPort),
    }));
    return State.Running ? published.map((each) => ({ ...each, PrivatePort: Number(port), Type })) : [];
  });

function describe({ Status, StartedAt, FinishedAt, ExitCode }) {
  const secondsSince = (time) => Math.floor((Date.now() - Date.parse(time)) / 1000);
  if (Status === 'created') return 'Created';
  if (Status === 'exited') return `Exited (${ExitCode}) ${secondsSince(FinishedAt)} seconds ago`;
  return `Up ${secondsSince(StartedAt)} seconds${Status === 'paused' ? ' (Paused)' : ''}`;
}

/** The first address of an IPv4 subnet and the one after its last, as numbers. */
function rangeOf(subnet) {
  const [address, prefix] = subnet.split('/');
  const first = address.split('.').reduce((number, octet) => number * 256 + Number(octet), 0);
  return [first, first + 2 ** (32 - Number(prefix))];
}

function overlap(one, other) {
  const [first, end] = rangeOf(one);
  const [otherFirst, otherEnd] = rangeOf(other);
  return first < otherEnd && otherFirst < end;
}
