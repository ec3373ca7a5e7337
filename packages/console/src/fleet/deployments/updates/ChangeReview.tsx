import { isolated, rich, t } from '../../../shared/texts/texts.ts';
import { formatList } from '../../../shared/ui/display/format.ts';
import { Notice } from '../../../shared/ui/feedback/states.tsx';
import { Table } from '../../../shared/ui/lists/Table.tsx';
import type { Plan } from '../../api.ts';
import { wordsOfMember } from '../form/member-labels.ts';
import { shortDigest, tagOf } from './ImageTag.tsx';

/** What a planned change of a deployment means: versions, whether it is interrupted, its data, and values before and after. */
export const ChangeReview = ({ plan }: { readonly plan: Plan }) => (
  <>
    {plan.template && (
      <div className="candidate">
        <VersionWords template={plan.template} />
      </div>
    )}
    <NewImage image={plan.image} />
    <Interruption plan={plan} />
    {plan.data.length > 0 && (
      <div className="candidate">
        <Notice kind="warning" title={t('Data')}>
          <ul>
            {plan.data.map(({ volume, note }) => (
              <li key={volume}>
                <code>{volume}</code> <bdi>{note}</bdi>
              </li>
            ))}
          </ul>
        </Notice>
      </div>
    )}
    {plan.values.length > 0 && <Values values={plan.values} />}
  </>
);

/** The versions of a template before and after an update. */
export function VersionWords({ template }: { readonly template: NonNullable<Plan['template']> }) {
  const { from_version, to_version } = template;
  if (to_version === null) return null;
  if (from_version === to_version) return <p className="muted small">{t('The template has the same version.')}</p>;
  return (
    <p>
      {rich('Version {from} → {to}', {
        from: <code>{isolated(from_version ?? t('not known'))}</code>,
        to: <code className="strong">{isolated(to_version)}</code>,
      })}
    </p>
  );
}

/** That the tag names another image than the one that runs, and which one the update runs. */
function NewImage({ image: { reference, from_digest, to_digest } }: { readonly image: Plan['image'] }) {
  const tag = tagOf(reference);
  if (tag === undefined || from_digest === null || to_digest === null || from_digest === to_digest) return null;
  return (
    <p className="candidate">
      {rich('Image of the tag {tag}: {from} → {to}', {
        tag: <code>{isolated(tag)}</code>,
        from: <code>{isolated(shortDigest(from_digest))}</code>,
        to: <code className="strong">{isolated(shortDigest(to_digest))}</code>,
      })}
    </p>
  );
}

/** Whether the change interrupts the deployment, and how its instances are replaced. */
function Interruption({ plan: { outage, rollout, replaces_instances } }: { readonly plan: Plan }) {
  if (!outage.expected && !replaces_instances) return null;
  return (
    <div className="candidate stack-small">
      <OutageWords outage={outage} />
      {!outage.expected && (
        <p className="muted small">
          {rollout.extra_instances > 0
            ? t('Old instances end when new ones are ready. One instance more runs meanwhile.')
            : t('The instances are replaced one after the other.')}
        </p>
      )}
    </div>
  );
}

/** Whether a change interrupts a deployment, why, and for about how long. */
export function OutageWords({ outage }: { readonly outage: Plan['outage'] }) {
  const { expected, total, reason, addresses, seconds } = outage;
  if (!expected) {
    return (
      <p>
        <span className="text-good strong">{t('No outage')}</span>
      </p>
    );
  }
  return (
    <div className="stack-small">
      <span className="text-busy strong">
        {total ? t('Outage: no instance serves for a time') : t('Addresses do not answer for a time')}
      </span>
      <p>{reason}</p>
      {seconds !== null && (
        <p className="muted small">
          {t(
            '{seconds, plural, one {It takes about # second, and the time that an instance needs to stop.} other {It takes about # seconds, and the time that an instance needs to stop.}}',
            { seconds },
          )}
        </p>
      )}
      {!total && (
        <p className="muted small">{t('Clients that read the addresses from the fleet are not interrupted.')}</p>
      )}
      {addresses.length > 0 && (
        <p className="muted small">
          {t('{count, plural, one {Address: {addresses}} other {Addresses: {addresses}}}', {
            count: addresses.length,
            addresses: formatList(addresses),
          })}
        </p>
      )}
    </div>
  );
}

/** The values that a change sets, before and after it. */
export const Values = ({ values }: { readonly values: Plan['values'] }) => (
  <div className="candidate stack-small">
    <span className="strong">{t('Values before and after')}</span>
    <Table
      label={t('Values before and after')}
      columns={[{ label: t('Value') }, { label: t('Before') }, { label: t('After') }]}
    >
      {values.map(({ path, from, to }) => (
        <tr key={path}>
          <th scope="row">{nameOf(path)}</th>
          <td>
            <Value text={from} />
          </td>
          <td>
            <Value text={to} />
          </td>
        </tr>
      ))}
    </Table>
  </div>
);

const Value = ({ text }: { readonly text: string | null }) =>
  text === null ? <span className="muted">{t('not set')}</span> : <code>{isolated(text)}</code>;

/** What forms call a value, such as the image or a variable. */
function nameOf(path: string) {
  const variable = path.startsWith('env.') ? path.slice('env.'.length) : undefined;
  if (variable !== undefined) return <code>{isolated(variable)}</code>;
  if (path === 'image') return t('Image');
  if (path === 'replicas') return t('Replicas');
  return wordsOfMember(path) ?? <code>{isolated(path)}</code>;
}
