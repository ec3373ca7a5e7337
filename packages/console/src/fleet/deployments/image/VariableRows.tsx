import type { WorkloadSpec } from '@svc/contract/fleet';
import { isSecretName } from '@svc/convert';
import { Plus, Trash2 } from 'lucide-react';
import { t } from '../../../shared/texts/texts.ts';
import { Button } from '../../../shared/ui/controls/Button.tsx';
import { TextField } from '../../../shared/ui/controls/Field.tsx';
import { type EnvBody, type EnvDraft, envBodyOf, firstEnvDraft, isSecretDraft } from '../env-draft.ts';
import { VariableField } from '../VariableField.tsx';

/** The input of a user for one variable of a new workload. */
export interface VariableRow {
  /** Identifies the row while the form is open. */
  readonly id: string;
  readonly name: string;
  readonly draft: EnvDraft;
}

type Declaration = WorkloadSpec['env_schema'][number];

const plain: Declaration = { name: '', required: false, default_value: '', description: '' };

export const newVariableRow = (name = '', text = ''): VariableRow => ({
  id: crypto.randomUUID(),
  name,
  draft: { ...firstEnvDraft(plain), text },
});

/** What rows declare in the workload, and the values that the deployment sets. */
interface Variables {
  /** Variables that are set to an empty text: in `env_schema`, an empty text counts as no value. */
  readonly empty: WorkloadSpec['env'];
  readonly declared: WorkloadSpec['env_schema'];
  readonly env: EnvBody;
}

/**
 * Text is the default of its variable, so that a deployment can change it later. A variable with the
 * value of a secret or a generated value is secret.
 */
export function variablesOf(rows: readonly VariableRow[]): Variables {
  const isEmpty = ({ draft }: VariableRow) => draft.source === 'text' && draft.text === '';
  const declared = rows
    .filter((row) => !isEmpty(row))
    .map(({ name, draft }) =>
      draft.source === 'text'
        ? { ...plain, name, default_value: draft.text }
        : { ...plain, name, required: true, description: descriptionOf(draft) },
    );
  const bound = rows.filter(({ draft }) => draft.source !== 'text');
  return {
    empty: rows.filter(isEmpty).map(({ name }) => ({ name, value: '' })),
    declared,
    env: envBodyOf(
      bound.map(({ name, draft }) => ({ ...plain, name, description: descriptionOf(draft) })),
      Object.fromEntries(bound.map(({ name, draft }) => [name, draft])),
    ),
  };
}

const descriptionOf = (draft: EnvDraft): string => (isSecretDraft(draft) ? '[secret]' : '');

/** The variables of a new workload: their names, and where their values come from. */
export function VariableRows({
  rows,
  errorOf,
  deploymentName,
  onChange,
}: {
  readonly rows: readonly VariableRow[];
  readonly errorOf: (row: VariableRow) => string | undefined;
  readonly deploymentName: string;
  readonly onChange: (rows: readonly VariableRow[]) => void;
}) {
  const change = (id: string, changed: Partial<VariableRow>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...changed } : row)));
  return (
    <>
      {rows.map((row, index) => (
        <fieldset key={row.id} className="object" aria-label={t('Variable {number}', { number: index + 1 })}>
          <div className="fields">
            <TextField
              label={t('Name of the variable')}
              mono
              value={row.name}
              error={errorOf(row)}
              onChange={(name) => change(row.id, { name })}
            />
            <div className="fields-action">
              <Button
                size="small"
                tone="ghost"
                icon={Trash2}
                onClick={() => onChange(rows.filter(({ id }) => id !== row.id))}
              >
                {t('Remove')}
              </Button>
            </div>
          </div>
          <VariableField
            variable={{ ...plain, name: row.name === '' ? t('Variable {number}', { number: index + 1 }) : row.name }}
            draft={row.draft}
            error={undefined}
            deploymentName={deploymentName}
            onChange={(draft) => change(row.id, { draft })}
          />
          {row.draft.source === 'text' && isSecretName(row.name) && (
            <p className="muted small">
              {t('Everybody with access to this fleet can read text. Choose Generate or Secret for a password.')}
            </p>
          )}
        </fieldset>
      ))}
      <div>
        <Button size="small" icon={Plus} onClick={() => onChange([...rows, newVariableRow()])}>
          {t('Add a variable')}
        </Button>
      </div>
    </>
  );
}
