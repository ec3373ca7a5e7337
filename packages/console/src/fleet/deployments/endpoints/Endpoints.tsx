import { useQuery } from '@tanstack/react-query';
import { ExternalLink, Globe, Network } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { href, isWebUrl } from '../../../shared/routing/href.ts';
import { rich, t } from '../../../shared/texts/texts.ts';
import { CopyButton } from '../../../shared/ui/controls/Copy.tsx';
import { type Deployment, fleet } from '../../api.ts';
import { scopeWords } from '../../looks.ts';
import { workloadField } from '../remedies/field-links.ts';
import { clientCommand, isLoopback, partsOf } from './client-command.ts';

type Endpoint = Deployment['endpoints'][number];

const isLocal = ({ scope, address }: Endpoint) => scope === 'loopback' || isLoopback(partsOf(address).host);

/**
 * Returns whether the browser can reach an address. A loopback address is that of the machine of the
 * host. The browser is on this machine if the console was opened on a loopback address, and the
 * fleet reaches the engine there.
 */
function useReachable({
  endpoints,
  target,
}: Pick<Deployment, 'endpoints' | 'target'>): (endpoint: Endpoint) => boolean {
  const id = target?.host_id ?? '';
  const isNeeded = isLoopback(location.hostname) && id !== '' && endpoints.some(isLocal);
  const { data } = useQuery({ ...fleet.read('getHost', { params: { id } }), enabled: isNeeded });
  const engine = data?.host.endpoint ?? '';
  const isHere = isNeeded && (engine.startsWith('unix:') || isLoopback(partsOf(engine.replace('tcp://', '')).host));
  return (endpoint) => endpoint.scope !== 'cluster' && (isHere || !isLocal(endpoint));
}

/** The URL of the web page at an endpoint; undefined if it has none. */
function urlOf({ scheme, address }: Endpoint): string | undefined {
  const url = `${scheme}://${address}`;
  return isWebUrl(url) ? url : undefined;
}

/** What has web pages: a deployment, or an application with the addresses of all its parts. */
type Opened = Pick<Deployment, 'name' | 'phase' | 'endpoints' | 'target'>;

/** Opens the first web page of what runs, if the browser can reach it. */
export function OpenButton({ of }: { readonly of: Opened }) {
  const isReachable = useReachable(of);
  const url = of.endpoints
    .filter(isReachable)
    .map(urlOf)
    .find((one) => one !== undefined);
  if (url === undefined || of.phase !== 'running') return null;
  return (
    <a href={url} target="_blank" rel="noreferrer" className="button primary">
      <ExternalLink size={16} aria-hidden />
      <span className="truncate">{t('Open {name}', { name: of.name })}</span>{' '}
      <span className="visually-hidden">{t('opens in a new tab')}</span>
    </a>
  );
}

/** The addresses of a deployment: links to its web pages, and commands for its other ports. */
export function Endpoints({ deployment }: { readonly deployment: Deployment }) {
  const { endpoints, phase, workload_id } = deployment;
  const isReachable = useReachable(deployment);
  if (endpoints.length === 0) {
    return (
      <p className="muted body">
        {phase === 'running' ? t('The workload has no ports.') : t('The addresses are known when the deployment runs.')}
      </p>
    );
  }
  return (
    <>
      <ul className="item-list">
        {endpoints.map((endpoint) => (
          <li key={`${endpoint.address}/${endpoint.protocol}`} className="spread">
            <EndpointView endpoint={endpoint} deployment={deployment} isReachable={isReachable(endpoint)} />
            <span className="tag mono">
              {endpoint.container_port}/{endpoint.protocol}
            </span>
          </li>
        ))}
      </ul>
      {endpoints.every(({ scheme }) => scheme === null) && endpoints.some(({ protocol }) => protocol === 'TCP') && (
        <p className="muted small body">
          {rich('If a port serves web pages, name it in the variable {variable} of the <link>workload</link>.', {
            variable: <code>SVC_HTTP_PORTS</code>,
            link: (words) => <Link href={workloadField(workload_id, 'env')}>{words}</Link>,
          })}
        </p>
      )}
    </>
  );
}

function EndpointView({
  endpoint,
  deployment,
  isReachable,
}: {
  readonly endpoint: Endpoint;
  readonly deployment: Deployment;
  readonly isReachable: boolean;
}) {
  const { address, scope, scheme } = endpoint;
  const command = scheme === null ? clientCommand(endpoint) : undefined;
  const Icon = scheme === null ? Network : Globe;
  const url = isReachable ? urlOf(endpoint) : undefined;
  return (
    <span className="stack-small">
      <span className="row">
        <Icon size={15} aria-hidden />
        {url !== undefined ? (
          <a href={url} target="_blank" rel="noreferrer" className="mono strong">
            {address} <ExternalLink size={13} aria-label={t('opens in a new tab')} />
          </a>
        ) : (
          <span className="mono strong">{address}</span>
        )}
        <CopyButton text={address} action={t('Copy address')} />
      </span>
      {command && (
        <span className="row">
          <code>{command}</code>
          <CopyButton text={command} action={t('Copy command')} />
        </span>
      )}
      <span className="muted small">{scopeWords[scope] ?? t('Reachable from the network {scope}', { scope })}</span>
      <Widen endpoint={endpoint} deployment={deployment} />
    </span>
  );
}

const hint = (words: ReactNode) => <span className="muted small">{words}</span>;

/** What makes an address reachable from other machines. */
function Widen({ endpoint, deployment }: { readonly endpoint: Endpoint; readonly deployment: Deployment }) {
  const { target, target_name, workload_id } = deployment;
  if (endpoint.scope === 'cluster') {
    const isPublished = deployment.endpoints.some(({ scope }) => scope === 'public');
    if (isPublished) return null;
    const id = target?.cluster_id ?? '';
    return hint(
      rich(
        'To open it from elsewhere, require the network public in the <workload>workload</workload>, and choose the type of public services of the <cluster>cluster</cluster>.',
        {
          workload: (words) => <Link href={workloadField(workload_id, 'required_network_types')}>{words}</Link>,
          cluster: (words) => (
            <Link href={href('/clusters/:id', { id }, { edit: 'public_service_type' })}>{words}</Link>
          ),
        },
      ),
    );
  }
  if (!isLocal(endpoint) && endpoint.scope !== 'unknown') return null;
  const id = target?.host_id ?? '';
  return hint(
    rich(
      'To open it from other machines, <link>declare an address of {name}</link> for its networks, and restart the deployment.',
      {
        name: target_name,
        link: (words) => <Link href={href('/hosts/:id', { id }, { edit: 'addresses' })}>{words}</Link>,
      },
    ),
  );
}
