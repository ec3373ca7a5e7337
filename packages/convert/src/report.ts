/**
 * What becomes of a key. `same`: the application does the same. `harmless`: it differs in a way of the closed list. `note`: a
 * person must read it. `refused`: the file is not converted.
 */
export type Fate = 'same' | 'harmless' | 'note' | 'refused';

/** All harmless differences, each with its reason. */
export const harmless = {
  annotations: 'Labels and annotations of a container do not change what its program does.',
  catalog: 'This describes the application for a catalog, where its publisher enters it.',
  container_name: 'The fleet names containers itself. Other parts find this one by the name of the part.',
  default_of_secret: 'A secret has no default that everybody knows. The operator enters it, or lets it be generated.',
  default_network: 'All parts of an application share one network of their own.',
  development: 'This is used only while the application is developed.',
  engine_default: 'The fleet sets this for all containers.',
  extension: 'A member that begins with x- is not used by Compose either.',
  generated_text: 'A generated text has only letters and digits, at least 16 of them.',
  health_timing: 'The fleet checks each 10 seconds, for at most 5 seconds, and three failures count.',
  health_variable: 'The part has a variable more, from which the health check reads a value.',
  host_port: 'The operator decides which ports of a host are used. The file states a wish.',
  image_port: 'The file states no port. The part has that of its image, so that others can be bound to it.',
  image_variable: 'The version of the image is the default of the variable. An update changes it.',
  interactive: 'A service of a fleet has no terminal.',
  latest: 'An image without a version is that with the tag latest, for the fleet as for other engines.',
  logging: 'The fleet limits and keeps the logs of containers itself.',
  part_name: 'The name of a part has only lower-case letters, digits and hyphens, also in the addresses of values.',
  platform: 'The platform uses this for itself, or does not use it.',
  platform_folder: 'The platform creates this folder empty for each application, as the fleet creates the volume.',
  project: 'This describes the file and not the application.',
  public_address: 'The platform assigns a domain. Here it is the address of the port, or the operator enters it.',
  public_port: 'The fleet publishes the port, and assigns no domain.',
  restart: 'The fleet starts a program again that has ended, with growing delays.',
  time_zone: 'Containers use UTC, or the variable TZ.',
  ulimits: 'The limits of the engine apply.',
  unused: 'Nothing in the file uses this variable.',
  update_policy: 'The fleet replaces instances by its own rules, which the operator sets.',
  used_port: 'The file states no port of the service. The part has the port that other services use.',
  validation: 'The value is not checked with an expression when it is entered.',
  variable_default: 'The member cannot contain a variable, so it has the default. Change it in the application.',
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
