/**
 * The current version of the defaults: what a rendering contains where a workload requests nothing. A deployment keeps the
 * version with which its instances were started until a change replaces them, so that an upgrade of the fleet replaces no
 * container.
 *
 * - 1: release 0.1.0
 * - 2: a limit of processes
 */
export const CURRENT_DEFAULTS = 2;

/** The properties of a deployment that decide which defaults apply to it. */
export interface DefaultsInUse {
  readonly defaults_version: number;
  readonly host_id: string | null;
}

interface DefaultsChange {
  /** The version that introduced the change. */
  readonly version: number;
  readonly appliesTo: (deployment: DefaultsInUse) => boolean;
  /** What a restart does, as the end of the sentence "A restart ...". */
  readonly effect: string;
}

const isOnHost = ({ host_id }: DefaultsInUse): boolean => host_id !== null;

const CHANGES: readonly DefaultsChange[] = [
  { version: 2, appliesTo: isOnHost, effect: 'limits the number of processes of each container' },
];

/** What a restart of a deployment would change because it has older defaults; empty if nothing. */
export const effectsOfCurrentDefaults = (deployment: DefaultsInUse): string[] =>
  CHANGES.filter(({ version, appliesTo }) => version > deployment.defaults_version && appliesTo(deployment)).map(
    ({ effect }) => effect,
  );
