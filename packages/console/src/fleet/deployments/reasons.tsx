import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { rich } from '../../shared/texts/texts.ts';
import type { Deployment } from '../api.ts';
import { isTroubled } from '../looks.ts';

/** What to do about the reason of a phase. */
const steps: readonly (readonly [RegExp, (deployment: Deployment) => ReactNode])[] = [
  [
    /ImagePull|ErrImage|InvalidImage/,
    ({ workload_id }) =>
      rich(
        'Check the image in the <workload>workload</workload>, and whether the registry needs a <secret>pull secret</secret>.',
        {
          workload: (words) => <Link href={href('/workloads/:id', { id: workload_id })}>{words}</Link>,
          secret: (words) => <Link href="/secrets">{words}</Link>,
        },
      ),
  ],
  [
    /CrashLoop|Exited|OOMKilled|BackOff|ContainerFailed/,
    ({ id }) =>
      rich('Read the <log>log</log>, then <change>change the variables</change>.', {
        log: (words) => <Link href={`${href('/deployments/:id', { id })}?tab=log`}>{words}</Link>,
        change: (words) => <Link href={href('/deployments/:id/change', { id })}>{words}</Link>,
      }),
  ],
  [
    /TargetUnreachable|TargetNotChecked|Unreachable/,
    ({ target }) =>
      target?.host_id
        ? rich('Check the <link>host</link>. The deployment continues by itself when it responds.', {
            link: (words) => <Link href={href('/hosts/:id', { id: target.host_id ?? '' })}>{words}</Link>,
          })
        : rich('Check the <link>cluster</link>. The deployment continues by itself when it responds.', {
            link: (words) => <Link href={href('/clusters/:id', { id: target?.cluster_id ?? '' })}>{words}</Link>,
          }),
  ],
  [
    /FieldConflict/,
    ({ id }) =>
      rich(
        'Another program manages these fields. <link>Change the deployment</link> and take over the fields, or stop the other program.',
        {
          link: (words) => <Link href={href('/deployments/:id/change', { id })}>{words}</Link>,
        },
      ),
  ],
  [
    /VolumeLost/,
    () =>
      rich(
        'Restore the <storage>volume</storage> on its target and restart the deployment, or accept the loss as the message states.',
        {
          storage: (words) => <Link href="/storage">{words}</Link>,
        },
      ),
  ],
  [
    /Unschedulable|NoPlacement|Insufficient/,
    ({ workload_id }) =>
      rich('Free capacity on the target, or reduce the requirements of the <link>workload</link>.', {
        link: (words) => <Link href={href('/workloads/:id', { id: workload_id })}>{words}</Link>,
      }),
  ],
];

export function stepsFor(deployment: Deployment): ReactNode {
  const { reason, phase, id } = deployment;
  const found = steps.find(([pattern]) => reason !== null && pattern.test(reason));
  if (found) return found[1](deployment);
  if (isTroubled(phase)) {
    return rich('See the <events>events</events> and the <log>log</log>.', {
      events: (words) => <Link href={`${href('/deployments/:id', { id })}?tab=events`}>{words}</Link>,
      log: (words) => <Link href={`${href('/deployments/:id', { id })}?tab=log`}>{words}</Link>,
    });
  }
  return null;
}
