import { useQuery } from '@tanstack/react-query';
import { CircleAlert, TriangleAlert } from 'lucide-react';
import { Link } from 'wouter';
import { isUnavailable } from '../../shared/api/problem.ts';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { isolated, rich, t } from '../../shared/texts/texts.ts';
import { CopyButton } from '../../shared/ui/controls/Copy.tsx';
import { textOfPairs } from '../../shared/ui/controls/pairs.ts';
import { Tabs, useTab } from '../../shared/ui/controls/Tabs.tsx';
import { type Fact, Facts } from '../../shared/ui/display/Facts.tsx';
import { formatBytes, parseQuantity, wordsOfCode } from '../../shared/ui/display/format.ts';
import { textOf } from '../../shared/ui/display/object-text.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { PageError, PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { AdviceNotice } from '../advice/Advice.tsx';
import { type Deployment as DeploymentObject, fleet } from '../api.ts';
import { conditionLook, isTroubled, phaseLook } from '../looks.ts';
import { AsFile, wordsOfPlace } from '../plans/AsFile.tsx';
import { DeploymentButtons } from './DeploymentActions.tsx';
import { DeploymentEvents, RecentEvents } from './DeploymentEvents.tsx';
import { Endpoints, OpenButton } from './endpoints/Endpoints.tsx';
import { wordsOfValue } from './env-draft.ts';
import { Instances } from './instances/Instances.tsx';
import { Logs } from './Logs.tsx';
import { CrashLoopPanel } from './problems/CrashLoop.tsx';
import { stepsFor } from './problems/reasons.tsx';
import { RevealButton } from './RevealButton.tsx';
import { Revisions } from './Revisions.tsx';
import { Bindings, SecretUses } from './SecretUses.tsx';
import { ReplicasChoice } from './scaling/ReplicasChoice.tsx';
import { wordsOfReplicas } from './scaling/scaling-draft.ts';
import { hasImageTag, ImageTag } from './updates/ImageTag.tsx';
import { PolicyPanel } from './updates/policy/PolicyPanel.tsx';
import type { AnyPolicy } from './updates/policy/policy-draft.ts';
import { RolloutPanel } from './updates/RolloutPanel.tsx';
import { UpdateNotice } from './updates/UpdateNotice.tsx';

const tabs = [
  { id: 'overview', label: t('Overview') },
  { id: 'log', label: t('Log') },
  { id: 'events', label: t('Events') },
  { id: 'history', label: t('History') },
  { id: 'manifest', label: t('Manifest') },
] as const;

/**
 * The stream of changes does not contain everything on the page, so it is also read again
 * periodically, in milliseconds.
 */
const REFRESH_MS = 30_000;
/** While the registry is being asked about the tag of the image, of which the stream tells nothing. */
const CHECKING_MS = 2000;

export default function Deployment({ params }: PageProps<'/deployments/:id'>) {
  const { data, error, refetch } = useQuery({
    ...fleet.read('getDeployment', { params }),
    refetchInterval: ({ state }) => (state.data?.deployment.image.checking ? CHECKING_MS : REFRESH_MS),
  });
  const tab = useTab(tabs);
  if (isUnavailable({ data, error })) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the deployment…')} />;
  const { deployment } = data;
  const path = href('/deployments/:id', params);
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Deployments'), href: '/deployments' }]}
        title={deployment.name}
        beside={<Status {...phaseLook(deployment)} />}
        about={rich('{template} · {count, plural, one {# replica} other {# replicas}} · changed {time}', {
          template: deployment.template_slug ? (
            <Link href={href('/catalog/:slug', { slug: deployment.template_slug })}>{deployment.template_slug}</Link>
          ) : (
            t('own workload')
          ),
          count: deployment.current_replicas ?? deployment.replicas,
          time: <Time at={deployment.updated_at} />,
        })}
        actions={
          <>
            <OpenButton of={deployment} />
            <DeploymentButtons deployment={deployment} />
          </>
        }
      />
      {error && <ErrorView error={error} retry={refetch} />}
      <Situation deployment={deployment} />
      <UpdateNotice deployment={deployment} />
      {deployment.advice && <AdviceNotice advice={deployment.advice} />}
      <Tabs label={t('Parts of the deployment')} tabs={tabs} current={tab} path={path} />
      {tab === 'overview' && <Overview deployment={deployment} />}
      {tab === 'log' && <Logs id={deployment.id} instances={deployment.instances} />}
      {tab === 'events' && <DeploymentEvents id={deployment.id} />}
      {tab === 'history' && <Revisions deployment={deployment} />}
      {tab === 'manifest' && (
        <div className="stack">
          <Manifest id={deployment.id} />
          <AsFile of={deployment} />
        </div>
      )}
    </>
  );
}

/** What is happening if the deployment does not simply run, and what to do about it. */
function Situation({ deployment }: { readonly deployment: DeploymentObject }) {
  const { phase, reason, message } = deployment;
  if (phase === 'running' || phase === 'stopped') return null;
  const isBad = isTroubled(phase);
  const steps = stepsFor(deployment);
  return (
    <div className={isBad ? 'problem situation' : 'notice info situation'} role="status">
      {isBad ? <CircleAlert size={18} aria-hidden /> : <TriangleAlert size={18} aria-hidden />}
      <div className="stack-small grow">
        <h2>{reason ? wordsOfCode(reason) : phaseLook(deployment).label}</h2>
        {message && <p>{message}</p>}
        {steps && <div>{steps}</div>}
      </div>
    </div>
  );
}

function Overview({ deployment }: { readonly deployment: DeploymentObject }) {
  const { conditions, env, volumes, crash_loop } = deployment;
  // A replica of version 0.2 states none.
  const policy: AnyPolicy | undefined = deployment.updates;
  return (
    <div className="split">
      <div className="stack">
        <RolloutPanel deployment={deployment} />
        {crash_loop && <CrashLoopPanel deployment={deployment} loop={crash_loop} />}
        <Panel title={t('Addresses')} flush>
          <Endpoints deployment={deployment} />
        </Panel>
        <Instances deployment={deployment} />
        {conditions.length > 0 && (
          <Panel title={t('Conditions')} flush>
            <ul className="item-list">
              {conditions.map((condition) => (
                <li key={condition.type} className="stack-small">
                  <span className="spread">
                    <Status {...conditionLook(condition)} />
                    <span className="muted small">
                      <Time at={condition.at} />
                    </span>
                  </span>
                  {condition.message && <span className="muted small">{condition.message}</span>}
                  {condition.type === 'ReplicasSetInCluster' && <ReplicasChoice deployment={deployment} />}
                </li>
              ))}
            </ul>
          </Panel>
        )}
        <RecentEvents id={deployment.id} />
      </div>
      <div className="stack">
        <Panel title={t('Details')}>
          <DeploymentFacts deployment={deployment} />
        </Panel>
        {policy && (
          <PolicyPanel
            policy={policy}
            change={<Link href={href('/deployments/:id/change', { id: deployment.id })}>{t('Change')}</Link>}
          />
        )}
        {Object.keys(env).length > 0 && (
          <Panel title={t('Variables')} flush>
            <ul className="item-list">
              {Object.entries(env).map(([name, value]) => (
                <li key={name} className="spread">
                  <span className="stack-small">
                    <code className="strong">{name}</code>
                    <span className="muted small">{wordsOfValue(value)}</span>
                  </span>
                  {typeof value === 'object' && 'generate' in value && (
                    <RevealButton kind="deployment" id={deployment.id} variable={name} />
                  )}
                </li>
              ))}
            </ul>
          </Panel>
        )}
        <BoundPanels id={deployment.id} />
        {Object.keys(volumes).length > 0 && (
          <Panel title={t('Volumes')} flush>
            <ul className="item-list">
              {Object.entries(volumes).map(([mount, { size }]) => (
                <li key={mount} className="spread">
                  <Link href={href('/storage', undefined, { deployment_id: deployment.id })}>{mount}</Link>
                  <span className="muted">{formatBytes(parseQuantity(size))}</span>
                </li>
              ))}
            </ul>
          </Panel>
        )}
      </div>
    </div>
  );
}

/** The variables that receive values of secrets or of other deployments. */
function BoundPanels({ id }: { readonly id: string }) {
  const { data } = useQuery(fleet.read('getDeploymentManifest', { params: { id } }));
  return (
    <>
      {data && data.secrets.length > 0 && (
        <Panel title={t('Variables from secrets')} flush>
          <SecretUses secrets={data.secrets} />
        </Panel>
      )}
      {data && data.bindings.length > 0 && (
        <Panel title={t('Values from other deployments')} flush>
          <Bindings bindings={data.bindings} />
        </Panel>
      )}
    </>
  );
}

function DeploymentFacts({ deployment }: { readonly deployment: DeploymentObject }) {
  const { target, target_name, workload_id, workload_name, revision, template_state, labels } = deployment;
  const targetLink =
    target?.host_id != null
      ? href('/hosts/:id', { id: target.host_id })
      : target?.cluster_id != null
        ? href('/clusters/:id', { id: target.cluster_id })
        : undefined;
  const facts: readonly Fact[] = [
    [
      t('Target'),
      targetLink ? (
        <Link key="target" href={targetLink}>
          {target_name}
        </Link>
      ) : (
        t('none yet')
      ),
    ],
    [
      t('Workload'),
      <span key="workload">
        {rich('{workload}, revision {revision}', {
          workload: <Link href={href('/workloads/:id', { id: workload_id })}>{workload_name}</Link>,
          revision,
        })}
      </span>,
    ],
    ...(template_state === null || template_state === 'current'
      ? []
      : [
          [
            t('Template'),
            template_state === 'outdated' ? t('has changed since') : t('is no longer in the catalog'),
          ] as const,
        ]),
    [t('Image'), <code key="image">{isolated(deployment.image.reference)}</code>],
    ...(deployment.image.digest
      ? [[t('Digest'), <code key="digest">{isolated(deployment.image.digest)}</code>] as const]
      : []),
    ...(hasImageTag(deployment)
      ? [[t('Tag in the registry'), <ImageTag key="tag" deployment={deployment} />] as const]
      : []),
    [t('Replicas'), wordsOfReplicas(deployment)],
    ...(deployment.managed_by ? [[t('Managed by'), wordsOfPlace(deployment.managed_by)] as const] : []),
    [
      t('Generation'),
      deployment.observed_generation === deployment.generation
        ? deployment.generation
        : t('{generation} (observed: {observed})', {
            generation: deployment.generation,
            observed: deployment.observed_generation ?? t('none'),
          }),
    ],
    [
      t('Created'),
      <span key="created">
        {rich('{time} by {name}', { time: <Time at={deployment.created_at} />, name: deployment.created_by })}
      </span>,
    ],
    ...(deployment.observed_at ? [[t('Observed'), <Time key="observed" at={deployment.observed_at} />] as const] : []),
    ...(Object.keys(labels).length > 0 ? [[t('Labels'), textOfPairs(labels, ', ')] as const] : []),
  ];
  return <Facts facts={facts} />;
}

function Manifest({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(fleet.read('getDeploymentManifest', { params: { id } }));
  if (error) return <ErrorView error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the manifest…')} />;
  const text = textOf(data.manifest);
  return (
    <Panel title={t('Manifest for the engine')} flush actions={<CopyButton text={text} action={t('Copy manifest')} />}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
      <pre className="code" tabIndex={0}>
        {text}
      </pre>
    </Panel>
  );
}
