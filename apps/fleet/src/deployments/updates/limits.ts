import { isDeepStrictEqual } from 'node:util';
import type { StoredSpec } from '../../resources/workloads.ts';

/** Why an automatic update is not made. */
export interface Hold {
  readonly reason: string;
  readonly message: string;
}

/**
 * What a person must decide, although the template contains it: a hub that is trusted to update a program does not receive more with
 * it. `subject`: what the update is about. undefined: an automatic update can be made.
 */
export function beyondAutomatic(before: StoredSpec, after: StoredSpec, subject = 'It'): Hold | undefined {
  const found = RULES.find(({ breaks }) => breaks(before, after));
  return found && onlyByPerson(found.reason, `${subject} ${found.what}`);
}

export const onlyByPerson = (reason: string, what: string): Hold => ({
  reason,
  message: `${what}, which only a person can decide.`,
});

type Breaks = (before: StoredSpec, after: StoredSpec) => boolean;

const rule = (reason: string, what: string, breaks: Breaks) => ({ reason, what, breaks });

const adds = <T>(before: readonly T[], after: readonly T[]): boolean =>
  after.some((entry) => !before.some((known) => isDeepStrictEqual(known, entry)));

const portsOf = ({ ports }: StoredSpec) =>
  ports.map(({ containerPort, protocol }) => `${containerPort}/${protocol}`.toUpperCase());
const mountsOf = ({ volume_mounts }: StoredSpec) => volume_mounts.map(({ name }) => name);
const writableMountsOf = ({ volume_mounts }: StoredSpec) =>
  volume_mounts.filter(({ read_only = false }) => !read_only).map(({ name }) => name);

const RULES = [
  rule(
    'OtherImageName',
    'has another image name or registry',
    (before, after) =>
      before.image_name !== after.image_name || (before.registry_url ?? '') !== (after.registry_url ?? ''),
  ),
  rule(
    'NewSecret',
    'uses another secret',
    (before, after) =>
      adds(before.secret_refs, after.secret_refs) ||
      (after.registry_credentials !== null && after.registry_credentials !== before.registry_credentials),
  ),
  rule('NewPort', 'publishes another port', (before, after) => adds(portsOf(before), portsOf(after))),
  rule(
    'OtherNetworks',
    'requires other networks',
    (before, after) =>
      !isDeepStrictEqual([...before.required_network_types].sort(), [...after.required_network_types].sort()),
  ),
  rule('NewVolume', 'has another volume', (before, after) => adds(mountsOf(before), mountsOf(after))),
  rule(
    'MorePermissions',
    'has other permissions',
    (before, after) =>
      (after.service_account_token && !before.service_account_token) ||
      (after.security_profile !== 'restricted' && before.security_profile === 'restricted') ||
      (before.read_only_root && !after.read_only_root) ||
      adds(writableMountsOf(before), writableMountsOf(after)) ||
      after.run_as !== before.run_as,
  ),
];
