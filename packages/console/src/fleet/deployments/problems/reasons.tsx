import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { href } from '../../../shared/routing/href.ts';
import { rich, t } from '../../../shared/texts/texts.ts';
import type { Deployment } from '../../api.ts';
import { isTroubled } from '../../looks.ts';

type Advice = (deployment: Deployment) => ReactNode;
type Words = (words: ReactNode) => ReactNode;

const toWorkload =
  ({ workload_id }: Deployment): Words =>
  (words) => <Link href={href('/workloads/:id', { id: workload_id })}>{words}</Link>;

const toLog =
  ({ id }: Deployment): Words =>
  (words) => <Link href={href('/deployments/:id', { id }, { tab: 'log' })}>{words}</Link>;

const toChange =
  ({ id }: Deployment): Words =>
  (words) => <Link href={href('/deployments/:id/change', { id })}>{words}</Link>;

const toTarget =
  ({ target }: Deployment): Words =>
  (words) => {
    if (target?.host_id) return <Link href={href('/hosts/:id', { id: target.host_id })}>{words}</Link>;
    if (target?.cluster_id) return <Link href={href('/clusters/:id', { id: target.cluster_id })}>{words}</Link>;
    return words;
  };

const to =
  (address: '/secrets' | '/storage'): Words =>
  (words) => <Link href={address}>{words}</Link>;

const waitForTarget: Advice = (deployment) =>
  deployment.target?.host_id
    ? rich('Check the <link>host</link>. The deployment continues by itself when it responds.', {
        link: toTarget(deployment),
      })
    : rich('Check the <link>cluster</link>. The deployment continues by itself when it responds.', {
        link: toTarget(deployment),
      });

const readLog: Advice = (deployment) =>
  rich('Read the <log>log</log>, then <change>change the variables</change>.', {
    log: toLog(deployment),
    change: toChange(deployment),
  });

/** What to do about the reason of a phase. The message states the cause. */
const advice: Readonly<Record<string, Advice>> = {
  ImageNotFound: (deployment) =>
    rich(
      'Check the name and the tag of the image in the <workload>workload</workload>. A private image also needs a <secret>pull secret</secret>.',
      { workload: toWorkload(deployment), secret: to('/secrets') },
    ),
  ImagePullFailed: (deployment) =>
    rich(
      'The <target>target</target> pulls the image itself: correct the cause there, or the image in the <workload>workload</workload>. The fleet tries again by itself.',
      { target: toTarget(deployment), workload: toWorkload(deployment) },
    ),
  AuthFailed: (deployment) =>
    rich(
      'If the message is about the image, give the <workload>workload</workload> a valid <secret>pull secret</secret>. Otherwise correct the credentials of the <target>target</target>.',
      { workload: toWorkload(deployment), secret: to('/secrets'), target: toTarget(deployment) },
    ),
  CrashLoop: readLog,
  JobFailed: readLog,
  Exited: (deployment) =>
    rich(
      'The program ended without an error, although a service must keep running. Read the <log>log</log>, or let the <workload>workload</workload> be a job.',
      { log: toLog(deployment), workload: toWorkload(deployment) },
    ),
  OOMKilled: (deployment) =>
    rich('Give the <workload>workload</workload> more memory, or let the program use less.', {
      workload: toWorkload(deployment),
    }),
  TargetUnreachable: waitForTarget,
  TargetNotChecked: waitForTarget,
  FieldConflict: (deployment) =>
    rich(
      'Another program manages these fields. <link>Change the deployment</link> and take over the fields, or stop the other program.',
      { link: toChange(deployment) },
    ),
  VolumeLost: () =>
    rich(
      'Restore the <storage>volume</storage> on its target and restart the deployment, or accept the loss as the message states.',
      { storage: to('/storage') },
    ),
  Unschedulable: (deployment) =>
    rich('Free capacity on the target, or reduce the requirements of the <link>workload</link>.', {
      link: toWorkload(deployment),
    }),
  AddressNotAvailable: (deployment) =>
    rich('Correct the addresses of the <link>host</link>, and restart the deployment.', {
      link: toTarget(deployment),
    }),
  GpuMissing: (deployment) =>
    rich('Check that the engine of the <link>host</link> gives GPUs to containers, and restart the deployment.', {
      link: toTarget(deployment),
    }),
  NetworkFailed: (deployment) =>
    rich(
      'The fleet chooses other addresses by itself. If the problem remains, check the networks of the <link>host</link>.',
      {
        link: toTarget(deployment),
      },
    ),
  PortConflict: () => t('The fleet assigns another port by itself.'),
  NameConflict: (deployment) =>
    rich('Remove or rename the other object on the <link>target</link>.', { link: toTarget(deployment) }),
  InvalidSpec: (deployment) =>
    rich('Correct the <link>workload</link> as the message states.', { link: toWorkload(deployment) }),
};

export function stepsFor(deployment: Deployment): ReactNode {
  const { reason, phase, id } = deployment;
  const found = reason === null ? undefined : advice[reason];
  if (found) return found(deployment);
  if (isTroubled(phase)) {
    return rich('See the <events>events</events> and the <log>log</log>.', {
      events: (words) => <Link href={href('/deployments/:id', { id }, { tab: 'events' })}>{words}</Link>,
      log: toLog(deployment),
    });
  }
  return null;
}
