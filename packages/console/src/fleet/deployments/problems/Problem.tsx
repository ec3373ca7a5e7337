import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { href } from '../../../shared/routing/href.ts';
import { t } from '../../../shared/texts/texts.ts';
import { formatCount, wordsOfCode } from '../../../shared/ui/display/format.ts';
import { Status } from '../../../shared/ui/display/Status.tsx';
import { Panel } from '../../../shared/ui/shell/PageHeader.tsx';
import { type Deployment, fleet } from '../../api.ts';
import { isTroubled, phaseLook, troubledPhases } from '../../looks.ts';

/** What is happening to a deployment: of a problem the reason first, because lists truncate the text. */
export function StateMessage({ deployment: { phase, reason, message } }: { readonly deployment: Deployment }) {
  const text = isTroubled(phase) && reason ? `${wordsOfCode(reason)}: ${message}` : message;
  return (
    <span className="muted small truncate" title={text}>
      {text}
    </span>
  );
}

const SHOWN = 10;

/** The deployments on a target that have a problem; nothing if there are none. */
export function TargetProblems({
  filter,
}: {
  readonly filter: { readonly host_id: string } | { readonly cluster_id: string };
}) {
  const phase = troubledPhases.join(',');
  const { data } = useQuery(
    fleet.read('listDeployments', { query: { ...filter, phase, limit: SHOWN, sort: '-updated_at' } }),
  );
  if (!data || data.pagination.total === 0) return null;
  return (
    <Panel
      title={t('Current problems')}
      flush
      actions={
        data.pagination.total > SHOWN ? (
          <Link href={href('/deployments', undefined, { ...filter, phase })}>
            {t('All {count}', { count: formatCount(data.pagination.total) })}
          </Link>
        ) : undefined
      }
    >
      <ul className="item-list">
        {data.deployments.map((deployment) => (
          <li key={deployment.id} className="stack-small">
            <span className="row">
              <Status {...phaseLook(deployment)} />
              {deployment.reason && <span className="text-bad small">{wordsOfCode(deployment.reason)}</span>}
              <Link href={href('/deployments/:id', { id: deployment.id })} className="cell-link">
                {deployment.name}
              </Link>
            </span>
            <span className="muted small">{deployment.message}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
