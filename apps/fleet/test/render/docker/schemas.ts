import { z } from 'zod';

// ContainerCreate and VolumeCreate of the Docker Engine API 1.41
// (https://docs.docker.com/reference/api/engine/version/v1.41/), as far as the fleet uses them.
// Other members are rejected, because an engine would ignore them silently.
const texts = z.record(z.string().min(1), z.string());
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/;
const portKey = z.string().regex(/^[1-9]\d{0,4}\/(?:tcp|udp|sctp)$/);
const CAPABILITY = /^[A-Z_]+$/;
const int64 = z.int().min(1);

const mount = z.strictObject({
  Type: z.literal('volume'),
  Source: z.string().regex(NAME),
  Target: z.string().regex(/^\/[^,:"]+$/),
  ReadOnly: z.boolean(),
});

const restartPolicy = z.discriminatedUnion('Name', [
  z.strictObject({ Name: z.literal('no'), MaximumRetryCount: z.literal(0) }),
  z.strictObject({ Name: z.literal('on-failure'), MaximumRetryCount: z.int().min(1) }),
]);

const deviceRequest = z.discriminatedUnion('Driver', [
  z.strictObject({
    Driver: z.literal('cdi'),
    DeviceIDs: z.array(z.string().regex(/^[\w.-]+\/[\w-]+=[\w.:-]+$/)).min(1),
  }),
  z.strictObject({
    Driver: z.literal(''),
    DeviceIDs: z.array(z.string().regex(/^[\w.:-]+$/)).min(1),
    Capabilities: z.tuple([z.tuple([z.literal('gpu')])]),
  }),
]);

const hostConfig = z
  .strictObject({
    NanoCpus: int64.min(10_000_000).optional(),
    Memory: int64.min(6 * 1024 * 1024).optional(),
    MemoryReservation: int64.optional(),
    PidsLimit: int64.optional(),
    ShmSize: int64.optional(),
    Init: z.boolean().optional(),
    ReadonlyRootfs: z.literal(true).optional(),
    Tmpfs: z
      .record(z.string().regex(/^\/[^,:"]+$/), z.string().regex(/^size=\d+,mode=1777(?:,notmpcopyup)?$/))
      .optional(),
    CapDrop: z.array(z.string().regex(CAPABILITY)).min(1).optional(),
    CapAdd: z.array(z.string().regex(CAPABILITY)).min(1).optional(),
    RestartPolicy: restartPolicy,
    Mounts: z.array(mount),
    PortBindings: z.record(
      portKey,
      z
        .array(
          z.strictObject({
            HostIp: z.union([z.ipv4(), z.ipv6()]).optional(),
            HostPort: z.string().regex(/^[1-9]\d{0,4}$/),
          }),
        )
        .min(1),
    ),
    SecurityOpt: z.tuple([z.literal('no-new-privileges')]),
    LogConfig: z.strictObject({ Type: z.enum(['local', 'k8s-file']), Config: texts }),
    DeviceRequests: z.array(deviceRequest).min(1).optional(),
    NetworkMode: z
      .string()
      .regex(/^svc-(?:alone|app)-[0-9a-f]{8}$/)
      .optional(),
    ExtraHosts: z
      .array(z.string().regex(/^[a-z0-9-]+:\d+\.\d+\.\d+\.\d+$/))
      .min(1)
      .optional(),
  })
  .refine(({ Memory = 0, MemoryReservation = 0 }) => MemoryReservation <= Memory, 'reserves more memory than its limit')
  .refine(
    ({ Mounts, Tmpfs = {} }) =>
      new Set([...Mounts.map(({ Target }) => Target), ...Object.keys(Tmpfs)]).size ===
      Mounts.length + Object.keys(Tmpfs).length,
    'mounts two volumes at one path',
  );

const endpoint = z.strictObject({
  IPAMConfig: z.strictObject({ IPv4Address: z.ipv4() }),
  MacAddress: z.string().regex(/^02:42(?::[0-9a-f]{2}){4}$/),
});

/** Body of `POST /containers/create`. */
export const containerBody = z
  .strictObject({
    Image: z.string().regex(/^[a-z0-9.-]+(?::\d+)?\/[a-z0-9._/-]+:\w[\w.-]{0,127}$/),
    Cmd: z.array(z.string()).min(1).optional(),
    Entrypoint: z.array(z.string()).min(1).optional(),
    WorkingDir: z.string().regex(/^\//).optional(),
    User: z
      .string()
      .regex(/^\d+(?::\d+)?$/)
      .optional(),
    Env: z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]*=/)),
    Labels: texts,
    ExposedPorts: z.record(portKey, z.strictObject({})),
    StopTimeout: z.int().min(0),
    Healthcheck: z
      .strictObject({
        Test: z.tuple([z.literal('CMD-SHELL'), z.string().min(1)]),
        Interval: int64,
        Timeout: int64,
        Retries: int64,
        StartPeriod: int64,
      })
      .optional(),
    HostConfig: hostConfig,
    NetworkingConfig: z.strictObject({ EndpointsConfig: z.record(z.string().regex(NAME), endpoint) }).optional(),
  })
  .refine(({ Env }) => new Set(Env.map((entry) => entry.split('=')[0])).size === Env.length, 'has a variable twice')
  .refine(
    ({ ExposedPorts, HostConfig }) =>
      String(Object.keys(ExposedPorts)) === String(Object.keys(HostConfig.PortBindings)),
    'binds ports that it does not expose',
  );

/** Body of `POST /volumes/create`. */
export const volumeBody = z.strictObject({ Name: z.string().regex(NAME), Driver: z.literal('local'), Labels: texts });

const container = z.strictObject({
  name: z.string().regex(NAME).max(63),
  ordinal: z.int().min(0),
  body: containerBody,
});

/** Everything that is rendered for a host. */
export const dockerManifest = z.strictObject({
  secrecy: z.enum(['values', 'placeholders']),
  image: z.string(),
  needsUserOfImage: z.literal(true).optional(),
  registryAuth: z
    .string()
    .regex(/^[A-Za-z0-9_-]+={0,2}$/)
    .optional(),
  volumes: z.array(volumeBody),
  networks: z
    .array(
      z.strictObject({
        Name: z.string().regex(NAME),
        Id: z.uuid(),
        Subnet: z.cidrv4(),
        Bridge: z.string().max(15),
        Labels: texts,
      }),
    )
    .min(1)
    .optional(),
  files: z
    .array(z.strictObject({ path: z.string().regex(/^\//), content: z.string(), mode: z.enum(['0444', '0555']) }))
    .min(1)
    .optional(),
  containers: z.array(container),
});
