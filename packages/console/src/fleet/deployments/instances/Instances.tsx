import { t } from '../../../shared/texts/texts.ts';
import { formatCount, wordsOfCode } from '../../../shared/ui/display/format.ts';
import { Status } from '../../../shared/ui/display/Status.tsx';
import { Time } from '../../../shared/ui/display/Time.tsx';
import { Table } from '../../../shared/ui/lists/Table.tsx';
import { Panel } from '../../../shared/ui/shell/PageHeader.tsx';
import type { Deployment } from '../../api.ts';
import { instanceLook } from '../../looks.ts';
import { cpusOf, memoryOf, useUsage } from '../usage.tsx';

type Instance = Deployment['instances'][number];

/** The instances of a deployment, on a cluster with their nodes, containers and last events. */
export function Instances({ deployment }: { readonly deployment: Deployment }) {
  const { instances } = deployment;
  const { usageOf, note } = useUsage(deployment);
  const hasNodes = instances.some(({ node }) => node !== null);
  const isReplaced = instances.some(({ current }) => current === false);
  return (
    <Panel title={t('Instances')} flush>
      {instances.length === 0 ? (
        <p className="muted body">{t('No instance yet.')}</p>
      ) : (
        <Table
          label={t('Instances')}
          columns={[
            { label: t('Name') },
            { label: t('State') },
            ...(hasNodes ? [{ label: t('Node') }] : []),
            { label: t('CPU'), isEnd: true },
            { label: t('Memory'), isEnd: true },
            { label: t('Restarts'), isEnd: true },
          ]}
        >
          {instances.map((instance) => (
            <tr key={instance.name}>
              <th scope="row" className="mono small">
                {instance.name}
              </th>
              <td>
                <State instance={instance} isReplaced={isReplaced} />
              </td>
              {hasNodes && <td className="small">{instance.node ?? t('none yet')}</td>}
              <td className="end numeric nowrap">{cpusOf(usageOf(instance.name))}</td>
              <td className="end numeric nowrap">{memoryOf(usageOf(instance.name))}</td>
              <td className="end numeric">{formatCount(instance.restarts)}</td>
            </tr>
          ))}
        </Table>
      )}
      {note && <p className="muted small body">{note}</p>}
    </Panel>
  );
}

function State({
  instance: { phase, message, containers, events, current, ready },
  isReplaced,
}: {
  readonly instance: Instance;
  /** An update replaces instances, so that old and new ones exist. */
  readonly isReplaced: boolean;
}) {
  const others = containers.filter(({ name }) => name !== 'main');
  return (
    <div className="stack-small">
      <span>
        <Status {...instanceLook({ phase })} />
        {isReplaced && (
          <>
            {' '}
            <span className="tag">{current ? t('new') : t('old')}</span>{' '}
            <span className="muted small">{ready ? t('ready') : t('not ready')}</span>
          </>
        )}
        {phase !== 'running' && message && <span className="muted small"> {message}</span>}
      </span>
      {others.map((container) => (
        <span key={container.name} className="muted small">
          {t('Container {name}: {message}', { name: container.name, message: container.message })}
        </span>
      ))}
      {events.length > 0 && (
        <details>
          <summary className="small">{t('Events of the cluster')}</summary>
          <ul className="stack-small">
            {events.map((event) => (
              <li key={`${event.at} ${event.reason} ${event.message}`} className="muted small">
                {event.at && <Time at={event.at} />} {wordsOfCode(event.reason)}: {event.message}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
