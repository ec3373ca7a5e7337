import { z } from 'zod';

/**
 * The members of engine responses that the fleet reads. All others are dropped, in particular
 * environment variables, which can contain secrets.
 */

export const version = z.object({ Version: z.string(), Arch: z.string() });

const identity = z.string().regex(/^[\w:.-]{1,128}$/);

export const info = z.object({
  NCPU: z.int().nonnegative(),
  MemTotal: z.int().nonnegative(),
  ID: identity.nullable().catch(null),
  ServerVersion: z.string().nullable().catch(null),
});

/** The machine of an engine. */
export const machine = z.object({
  /** Its host name. */
  Name: z.string().catch(''),
  /** Its address in a swarm of Docker. */
  Swarm: z.object({ NodeAddr: z.string() }).catch({ NodeAddr: '' }),
});
export const storedIdentity = z.object({ ID: identity });

const labels = z
  .record(z.string(), z.string())
  .nullish()
  .transform((found) => found ?? {});

export const listed = z.array(
  z.object({
    Id: z.string().min(1),
    Names: z.array(z.string()).nullish(),
    Labels: labels,
    State: z.string(),
    Status: z.string().default(''),
    /** Its networks by name. */
    NetworkSettings: z
      .object({ Networks: z.record(z.string(), z.unknown()).nullish() })
      .nullish()
      .transform((found) => Object.keys(found?.Networks ?? {})),
  }),
);

/**
 * A line of the stream of events. Docker appends the result to the action `health_status`; Podman
 * sends it as a member.
 */
export const event = z.object({
  Action: z.string(),
  Actor: z.object({ ID: z.string().max(128), Attributes: labels }),
  HealthStatus: z.string().catch(''),
});

const nonEmpty = z
  .array(z.unknown())
  .nullish()
  .transform((found) => (found?.length ?? 0) > 0);
const timestamp = z.string().transform((text) => Date.parse(text));

const portBindings = z.record(
  z.string().regex(/^\d{1,5}\/(?:tcp|udp|sctp)$/),
  z
    .array(z.object({ HostIp: z.string().default(''), HostPort: z.string().regex(/^\d{0,5}$/) }))
    .nullable()
    .transform((bindings) => bindings ?? []),
);

export const inspected = z.object({
  Id: z.string().min(1),
  Name: z.string(),
  RestartCount: z.int().nonnegative().default(0),
  State: z.object({
    Status: z.string(),
    Running: z.boolean(),
    Paused: z.boolean().default(false),
    Restarting: z.boolean().default(false),
    OOMKilled: z.boolean().default(false),
    ExitCode: z.int(),
    StartedAt: timestamp,
    FinishedAt: timestamp,
    Health: z.object({ Status: z.string(), Log: nonEmpty }).nullish(),
  }),
  /** The id of its image. */
  Image: z.string().default(''),
  Config: z.object({ Labels: labels, StopTimeout: z.int().nonnegative().nullish() }),
  HostConfig: z.object({
    Memory: z.number().default(0),
    RestartPolicy: z.object({ Name: z.string(), MaximumRetryCount: z.int().default(0) }),
    DeviceRequests: nonEmpty,
    Devices: nonEmpty,
    /** The ports that it publishes. Bindings that the fleet does not write are not read. */
    PortBindings: portBindings.nullish().catch(null),
  }),
});
export type Inspected = z.output<typeof inspected>;

/** The labels, the published ports and the addresses of a container. Docker states an address that was requested, and both the present one. */
export const published = z.object({
  Config: z.object({ Labels: labels }),
  HostConfig: z.object({ PortBindings: portBindings.nullish() }),
  NetworkSettings: z
    .object({
      Networks: z
        .record(
          z.string(),
          z.object({
            IPAddress: z.string().default(''),
            IPAMConfig: z.object({ IPv4Address: z.string().default('') }).nullish(),
          }),
        )
        .nullish(),
    })
    .nullish(),
});

export const inspectedImage = z.object({
  Id: z.string().default(''),
  RepoDigests: z
    .array(z.string())
    .nullish()
    .transform((found) => found ?? []),
});

/** What a registry says about an image. */
export const distribution = z.object({ Descriptor: z.object({ digest: z.string() }) });

/** The user of an image: a name or an id, optionally with a group. */
export const imageUser = z.object({ Config: z.object({ User: z.string().nullish() }).nullish() });

export const created = z.object({ Id: z.string().min(1) });
export const volume = z.object({ Name: z.string(), Labels: labels });
export const listedVolumes = z.object({
  Volumes: z
    .array(volume)
    .nullish()
    .transform((found) => found ?? []),
});

/** A network as Podman describes it. */
export const podmanNetwork = z.object({
  subnets: z
    .array(z.object({ subnet: z.string() }))
    .nullish()
    .transform((found) => found ?? []),
  options: labels,
  labels,
});

export const dockerNetwork = z.object({
  Driver: z.string().default(''),
  IPAM: z
    .object({
      Config: z
        .array(z.object({ Subnet: z.string().default('') }))
        .nullish()
        .transform((found) => found ?? []),
    })
    .default({ Config: [] }),
  Labels: labels,
});

/** A line of the response to an image pull. Errors are reported in such lines, after status 200. */
export const pulled = z.object({
  error: z.string().optional(),
  errorDetail: z.object({ message: z.string().optional() }).nullish(),
});

const amount = z.number().nonnegative();

/**
 * One reading of what a container uses. For a container that does not run, the members are absent
 * or zero.
 */
export const stats = z.object({
  read: timestamp,
  cpu_stats: z.object({ cpu_usage: z.object({ total_usage: amount }) }),
  memory_stats: z.object({
    usage: amount.optional(),
    limit: amount.optional(),
    stats: z.object({ inactive_file: amount.optional(), total_inactive_file: amount.optional() }).nullish(),
  }),
});
