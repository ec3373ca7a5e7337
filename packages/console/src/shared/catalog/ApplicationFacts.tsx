import type { Application } from '@svc/contract';
import { isolated, t } from '../texts/texts.ts';
import { Facts } from '../ui/display/Facts.tsx';
import { Time } from '../ui/display/Time.tsx';
import { Table } from '../ui/lists/Table.tsx';
import { Panel } from '../ui/shell/PageHeader.tsx';
import { referenceOf } from './image-reference.ts';
import { tierLabel } from './tiers.ts';

/** The containers of which an application consists. */
export const ApplicationParts = ({ parts }: Pick<Application, 'parts'>) => (
  <Panel title={t('Parts')} flush>
    <Table
      label={t('Parts')}
      columns={[{ label: t('Name') }, { label: t('Image') }, { label: t('Published ports') }, { label: t('Needs') }]}
    >
      {parts.map((part) => (
        <tr key={part.name}>
          <th scope="row">{part.name}</th>
          <td>
            <code>{isolated(referenceOf(part))}</code>
          </td>
          <td>
            {part.ports
              .filter(({ publish }) => publish)
              .map(({ containerPort, protocol }) => `${containerPort}/${protocol}`)
              .join(', ') || t('none')}
          </td>
          <td className="muted">{part.needs.map((need) => need.part).join(', ')}</td>
        </tr>
      ))}
    </Table>
  </Panel>
);

/** What an application requires. */
export const ApplicationFacts = ({ application }: { readonly application: Application }) => (
  <Panel title={t('Requirements')}>
    <Facts
      facts={[
        [t('Category'), application.category_name],
        [t('Tier'), tierLabel(application.min_tier)],
        [t('Updated'), <Time key="updated" at={application.updated_at} />],
      ]}
    />
  </Panel>
);

/** What a person enters to deploy an application. */
export const ApplicationInputs = ({ inputs }: Pick<Application, 'inputs'>) =>
  inputs.length === 0 ? null : (
    <Panel title={t('Values that you enter')}>
      <ul className="bullets">
        {inputs.map((input) => (
          <li key={input.name}>
            {input.label || input.name} {input.required && <span className="tag">{t('required')}</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
