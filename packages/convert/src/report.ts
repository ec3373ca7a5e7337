/**
 * What becomes of a key. `same`: the application does the same. `harmless`: it differs in a way of the closed list. `note`: a
 * person must read it. `refused`: the file is not converted.
 */
export type Fate = 'same' | 'harmless' | 'note' | 'refused';

/** All harmless differences, each with its reason. */
export const harmless = {
  annotations: 'Labels and annotations of a container do not change what its program does.',
  container_name: 'The fleet names containers itself. Other parts find this one by the name of the part.',
  default_of_secret: 'A secret has no default that everybody knows. The operator enters it, or lets it be generated.',
  default_network: 'All parts of an application share one network of their own.',
  development: 'This is used only while the application is developed.',
  engine_default: 'The fleet sets this for all containers.',
  extension: 'A member that begins with x- is not used by Compose either.',
  health_timing: 'The fleet checks each 10 seconds, for at most 5 seconds, and three failures count.',
  host_port: 'The operator decides which ports of a host are used. The file states a wish.',
  image_variable: 'The version of the image is the default of the variable. An update changes it.',
  interactive: 'A service of a fleet has no terminal.',
  logging: 'The fleet limits and keeps the logs of containers itself.',
  project: 'This describes the file and not the application.',
  restart: 'The fleet starts a program again that has ended, with growing delays.',
  time_zone: 'Containers use UTC, or the variable TZ.',
  ulimits: 'The limits of the engine apply.',
  update_policy: 'The fleet replaces instances by its own rules, which the operator sets.',
  volume: 'The fleet creates the volume on the target of the application.',
} as const;

export type HarmlessReason = keyof typeof harmless;

/** What becomes of one key of the source. */
export interface Entry {
  readonly file: string;
  readonly line: number;
  /** The service; null for a key of the whole file. */
  readonly part: string | null;
  /** The path of the key in the service or the file, such as `ports.0`. */
  readonly member: string;
  /** The value as text, at most 200 characters. Values of variables with secret names are left out. */
  readonly value: string;
  readonly class: Fate;
  /** '' if it is the same. */
  readonly reason: string;
}

const MAX_SHOWN = 200;

export const shortened = (text: string): string =>
  text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 1)}…`;
