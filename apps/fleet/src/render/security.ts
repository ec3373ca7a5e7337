import type { WorkloadSpec } from '@svc/contract/fleet';
import { CAPABILITIES, DROPPED_BY_NAME } from './capabilities.ts';
import { CONTAINERS_ARE_LIMITED } from './defaults.ts';
import type { Rendering } from './rendering.ts';

type Secured = Pick<WorkloadSpec, 'security_profile' | 'run_as'>;

/** Whether a container must not run as root and has no capabilities. */
const isRestricted = ({ security_profile }: Pick<Secured, 'security_profile'>): boolean =>
  security_profile === 'restricted';

/** Whether only the image determines that a restricted container does not run as root. */
export const reliesOnImage = (spec: Secured): boolean => isRestricted(spec) && spec.run_as === null;

/** The ids of the user and the group of a container; undefined if the image determines them. */
function idsOf({ run_as }: Pick<Secured, 'run_as'>): { user?: number; group?: number } {
  if (run_as === null) return {};
  const [user, group] = run_as.split(':').map(Number);
  return { ...(user !== undefined && { user }), ...(group !== undefined && { group }) };
}

/** The members of the security context of a container in a pod. */
export function securityContextOf({ spec, defaults }: Pick<Rendering, 'spec' | 'defaults'>) {
  const { user, group } = idsOf(spec);
  return {
    allowPrivilegeEscalation: false,
    ...(isRestricted(spec)
      ? { runAsNonRoot: true, capabilities: { drop: ['ALL'] } }
      : defaults >= CONTAINERS_ARE_LIMITED && { capabilities: { drop: ['ALL'], add: [...CAPABILITIES] } }),
    ...(user !== undefined && { runAsUser: user }),
    ...(group !== undefined && { runAsGroup: group }),
    ...(spec.read_only_root && { readOnlyRootFilesystem: true }),
  };
}

interface HostCapabilities {
  readonly CapDrop?: readonly string[];
  readonly CapAdd?: readonly string[];
}

/**
 * The capabilities of a container on a host. Podman makes added capabilities ambient for an image
 * that does not run as root, so that its processes would gain privileges. There, the other
 * capabilities of the engine's default are removed instead.
 */
export function capabilitiesOn(
  { spec, defaults }: Pick<Rendering, 'spec' | 'defaults'>,
  engine: 'docker' | 'podman',
): HostCapabilities {
  if (isRestricted(spec)) return { CapDrop: ['ALL'] };
  if (defaults < CONTAINERS_ARE_LIMITED) return {};
  return engine === 'docker' ? { CapDrop: ['ALL'], CapAdd: CAPABILITIES } : { CapDrop: DROPPED_BY_NAME };
}
