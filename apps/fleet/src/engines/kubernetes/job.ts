import type { V1Job } from '@kubernetes/client-node';
import { isActive } from './pods.ts';
import type { Standing } from './standings.ts';
import { calm, fallen, type Verdict } from './verdict.ts';

const isTrue = ({ status }: V1Job, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;

/** How a Job stands. */
export function verdictOnJob(job: V1Job, standings: readonly Standing[]): Verdict {
  if (isTrue(job, 'Complete')) return calm('stopped', 'Its work is done.');
  if (isTrue(job, 'Failed')) return failed(job, standings);
  const active = standings.filter(({ pod }) => isActive(pod));
  if (job.spec?.suspend === true) {
    return standings.some(({ state }) => state.phase !== 'completed' && state.phase !== 'failed')
      ? calm('stopping', `${active.length} still to be stopped.`, 'soon')
      : calm('stopped', 'Nothing of it is to run.');
  }
  const wanted = job.spec?.completions ?? 1;
  const running = active.filter(({ state }) => state.phase === 'running').length;
  const done = standings.filter(({ state }) => state.phase === 'completed').length;
  const count = `${running} of ${wanted} up${done > 0 ? `, ${done} done` : ''}.`;
  const down = active.find(({ state }) => state.reason !== null);
  if (down) return fallen(down, { anyRuns: running > 0, count });
  const isThere = running > 0 && running + done === wanted && standings.length === wanted;
  return isThere ? calm('running', count) : calm('starting', count, 'soon');
}

function failed({ status }: V1Job, standings: readonly Standing[]): Verdict {
  const condition = status?.conditions?.find(({ type }) => type === 'Failed');
  const next = 'settled';
  if (condition?.reason === 'DeadlineExceeded') {
    const message = 'It did not end in the time that it was given.';
    return { phase: 'failed', reason: 'DeadlineExceeded', message, next };
  }
  const worst = standings.find(({ state }) => state.phase === 'failed');
  const message = worst ? `${worst.name} ${worst.state.message}.` : 'It has failed.';
  return { phase: 'failed', reason: worst?.state.reason ?? 'JobFailed', message, next };
}
