import { useState } from 'react';
import { t } from '../../../shared/texts/texts.ts';
import { ComboboxField } from '../../../shared/ui/controls/Combobox.tsx';
import { FilterSelect, SearchField } from '../../../shared/ui/controls/Field.tsx';
import { type Deployment, useCaller } from '../../api.ts';
import { WITH_UPDATE } from '../updates/UpdateMark.tsx';
import { targetOf, useTargets } from '../useTargets.ts';

interface Values {
  readonly host_id: string;
  readonly cluster_id: string;
  readonly label: string;
  readonly created_by: string;
  readonly template_state: string;
  readonly template_status: string;
  readonly advisory: string;
  readonly update: string;
}

interface FiltersProps {
  readonly values: Values;
  readonly set: (changed: Partial<Values>) => void;
  /** Deployments whose labels and creators are suggested. */
  readonly known: readonly Deployment[];
}

/**
 * Filters that are used less often. Their objects are read when the user opens them for the first time. Closed filters
 * remain, because a text applies shortly after it was entered.
 */
export function MoreFilters(props: FiltersProps) {
  const [isUsed, setUsed] = useState(false);
  return (
    <details className="more-filters" onToggle={() => setUsed(true)}>
      <summary className="button">{t('More filters')}</summary>
      {isUsed && <Filters {...props} />}
    </details>
  );
}

function Filters({ values, set, known }: FiltersProps) {
  const { email, name } = useCaller();
  const chosen = values.host_id ? `host:${values.host_id}` : values.cluster_id ? `cluster:${values.cluster_id}` : '';
  const { choices, ...targets } = useTargets(chosen);
  const labels = known.flatMap((deployment) =>
    Object.entries(deployment.labels).map(([key, value]) => `${key}=${value}`),
  );
  const creators = known.map(({ created_by }) => created_by);
  return (
    <div className="more-filters-fields">
      <ComboboxField
        {...targets}
        label={t('Host or cluster')}
        value={chosen}
        onChange={(value) => set({ host_id: '', cluster_id: '', ...targetOf(value) })}
        choices={[{ value: '', label: t('All hosts and clusters') }, ...choices.filter(({ value }) => value !== '')]}
      />
      <SearchField
        label={t('Label, such as team=data')}
        value={values.label}
        onChange={(label) => set({ label })}
        suggestions={distinct(labels)}
      />
      <SearchField
        label={t('Created by')}
        value={values.created_by}
        onChange={(created_by) => set({ created_by })}
        suggestions={distinct([email ?? name, ...creators])}
      />
      <FilterSelect
        label={t('Advisories')}
        value={values.advisory}
        onChange={(advisory) => set({ advisory })}
        options={[
          { value: '', label: t('With and without advisories') },
          { value: 'note', label: t('With any advisory') },
          { value: 'warning', label: t('With a warning or a critical advisory') },
          { value: 'critical', label: t('With a critical advisory') },
        ]}
      />
      <FilterSelect
        label={t('Status of the template')}
        value={values.template_status}
        onChange={(template_status) => set({ template_status })}
        options={[
          { value: '', label: t('Templates with any status') },
          { value: 'active', label: t('Active templates') },
          { value: 'deprecated', label: t('Deprecated templates') },
          { value: 'blocked', label: t('Blocked templates') },
        ]}
      />
      <FilterSelect
        label={t('State of the template')}
        value={values.template_state}
        onChange={(template_state) => set({ template_state })}
        options={[
          { value: '', label: t('Changed and unchanged templates') },
          { value: 'current', label: t('Current') },
          { value: 'outdated', label: t('Template changed') },
          { value: 'withdrawn', label: t('Template withdrawn') },
        ]}
      />
      <FilterSelect
        label={t('Updates')}
        value={values.update}
        onChange={(update) => set({ update })}
        options={[
          { value: '', label: t('With and without updates') },
          { value: WITH_UPDATE.update, label: t('With an update') },
          { value: 'available', label: t('With an update that is not held') },
          { value: 'held', label: t('With an update that is held') },
        ]}
      />
    </div>
  );
}

const distinct = (values: readonly string[]) => [...new Set(values)].sort();
