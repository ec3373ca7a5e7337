import { t } from '../shared/texts/texts.ts';
import { wordsOfCode } from '../shared/ui/display/format.ts';
import { looks, type StatusLook } from '../shared/ui/display/Status.tsx';
import type { Deployment, Host, Token, Volume } from './api.ts';

/** How the phases of a deployment look. */
const phaseLooks: Readonly<Record<Deployment['phase'], StatusLook>> = {
  pending: looks.waiting(t('Pending')),
  starting: looks.moving(t('Starting')),
  retrying: looks.warning(t('Retrying')),
  running: looks.good(t('Running')),
  degraded: looks.warning(t('Degraded')),
  failed: looks.bad(t('Failed')),
  stopping: looks.moving(t('Stopping')),
  stopped: looks.stopped(t('Stopped')),
  deleting: looks.moving(t('Deleting')),
};

export const phaseLook = ({
  phase,
  reason,
}: Pick<Deployment, 'phase'> & Partial<Pick<Deployment, 'reason'>>): StatusLook =>
  phase === 'stopped' && reason === 'Completed' ? looks.good(t('Completed')) : phaseLooks[phase];

/** How the phases of an instance look, as engines report them. */
const instanceLooks: Readonly<Record<string, StatusLook>> = {
  created: looks.waiting(t('Created')),
  starting: looks.moving(t('Starting')),
  running: looks.good(t('Running')),
  unhealthy: looks.warning(t('Unhealthy')),
  paused: looks.stopped(t('Paused')),
  stopping: looks.moving(t('Stopping')),
  stopped: looks.stopped(t('Stopped')),
  completed: looks.good(t('Completed')),
  crashed: looks.bad(t('Crashed')),
  failed: looks.bad(t('Failed')),
  missing: looks.alert(t('Missing')),
};

export const instanceLook = ({ phase }: { readonly phase: string }): StatusLook =>
  instanceLooks[phase] ?? looks.unknown(wordsOfCode(phase));

const reachabilityLooks: Readonly<Record<Host['reachability'], StatusLook>> = {
  online: looks.good(t('Online')),
  unreachable: looks.bad(t('Unreachable')),
  unknown: looks.unknown(t('Not checked')),
};

export const reachabilityLook = ({ reachability }: Pick<Host, 'reachability'>): StatusLook =>
  reachabilityLooks[reachability];

const volumeLooks: Readonly<Record<Volume['phase'], StatusLook>> = {
  pending: looks.waiting(t('Pending')),
  bound: looks.good(t('Bound')),
  lost: looks.bad(t('Lost')),
  deleting: looks.moving(t('Deleting')),
};

export const volumeLook = ({ phase }: Pick<Volume, 'phase'>): StatusLook => volumeLooks[phase];

const tokenLooks: Readonly<Record<Token['status'], StatusLook>> = {
  active: looks.good(t('Active')),
  expired: looks.warning(t('Expired')),
  revoked: looks.off(t('Revoked')),
};

export const tokenLook = ({ status }: Pick<Token, 'status'>): StatusLook => tokenLooks[status];

/** The conditions whose good state is `False`. */
const NEGATIVE: ReadonlySet<string> = new Set([
  'VolumeShared',
  'CreatedWithOlderDefaults',
  'SecretOutsidePurpose',
  'ReplicasSetInCluster',
  'ImageChangedByCluster',
]);

export function conditionLook({ type, status }: { readonly type: string; readonly status: string }): StatusLook {
  const label = wordsOfCode(type);
  if (status === 'Unknown') return looks.unknown(label);
  if ((status === 'True') !== NEGATIVE.has(type)) return looks.good(label);
  return looks.warning(status === 'True' ? label : t('{condition}: no', { condition: label }));
}

/** The phases of a deployment that need attention. */
export const troubledPhases = ['failed', 'degraded', 'retrying'] as const satisfies readonly Deployment['phase'][];

export const isTroubled = (phase: Deployment['phase']): boolean =>
  troubledPhases.some((troubled) => troubled === phase);

/** The phases between two states. */
export const passingPhases = [
  'pending',
  'starting',
  'stopping',
  'deleting',
] as const satisfies readonly Deployment['phase'][];

export const scopeWords: Readonly<Record<string, string>> = {
  loopback: t('Reachable only from the machine of the host'),
  cluster: t('Reachable only from within the cluster'),
  all: t('Reachable from all networks of the host'),
  unknown: t('The host no longer declares this address'),
};

const templateStateLooks: Readonly<Record<NonNullable<Deployment['template_state']>, StatusLook>> = {
  current: looks.good(t('Current')),
  outdated: looks.waiting(t('Template changed')),
  withdrawn: looks.off(t('Template withdrawn')),
};

export const templateStateLook = (state: NonNullable<Deployment['template_state']>): StatusLook =>
  templateStateLooks[state];
