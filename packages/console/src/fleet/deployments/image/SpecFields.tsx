import controls from 'virtual:template-controls';
import type { TemplateField, TemplateTopic } from '@svc/contract';
import type { ReactNode } from 'react';
import { ControlLayout, type ErrorAt, MemberControl } from '../../../shared/catalog/MemberControl.tsx';
import { topicHeadings } from '../../../shared/catalog/topics.ts';
import { t } from '../../../shared/texts/texts.ts';
import { SelectField, TextField } from '../../../shared/ui/controls/Field.tsx';
import { type HealthDraft, imageMembers, type SpecDraft, specControls } from './spec-draft.ts';

/** The networks are beside the ports, because they determine to which addresses ports bind. */
const headingOf = (topic: TemplateTopic) => topicHeadings[topic === 'networks' ? 'ports' : topic];

const members = specControls(controls);
const sections = [...new Set(members.map(({ topic }) => headingOf(topic)))].map((heading) => ({
  heading,
  members: members.filter(({ topic }) => headingOf(topic) === heading),
}));

/** The heading of the members that most workloads leave at their defaults. */
const SELDOM = topicHeadings.scheduling;

/** The fields for everything that a workload specifies, from the declarations of its members. */
export function SpecFields({
  draft,
  errorAt,
  onChange,
  variables,
  volumes,
}: {
  readonly draft: SpecDraft;
  readonly errorAt: ErrorAt;
  /** `member` is the name of the member, or of one that the same field changes. */
  readonly onChange: (member: string, draft: SpecDraft) => void;
  /** What the form shows instead of the fields of variables. */
  readonly variables?: ReactNode;
  /** What the form shows after the fields of ports and volumes. */
  readonly volumes?: ReactNode;
}) {
  const fieldsOf = (shown: typeof members) => (
    <ControlLayout
      items={shown.map((member) => ({
        key: member.name,
        kind: member.control.kind,
        control: (
          <MemberControl
            member={member}
            path={member.name}
            input={draft.inputs[member.name] ?? ''}
            errorAt={errorAt}
            onChange={(input) => onChange(member.name, { ...draft, inputs: { ...draft.inputs, [member.name]: input } })}
          />
        ),
      }))}
    />
  );
  return sections.map(({ heading, members: shown }) =>
    heading === SELDOM ? (
      <details key={heading} className="form-section">
        <summary className="strong">{heading}</summary>
        <div className="form optional">{fieldsOf(shown)}</div>
      </details>
    ) : (
      <fieldset key={heading} className="form-section">
        <h2>{heading}</h2>
        {heading === topicHeadings.image && (
          <TextField
            label={t('Image')}
            hint={t('With registry and tag, such as ghcr.io/team/app:1.2. Without a registry: Docker Hub.')}
            required
            mono
            value={draft.image}
            error={errorAt(...imageMembers)}
            onChange={(image) => onChange('image_name', { ...draft, image })}
          />
        )}
        {heading === topicHeadings.environment && variables !== undefined ? variables : fieldsOf(shown)}
        {heading === topicHeadings.environment && (
          <HealthFields
            health={draft.health}
            error={errorAt('env')}
            onChange={(health) => onChange('env', { ...draft, health })}
          />
        )}
        {heading === topicHeadings.ports && volumes}
      </fieldset>
    ),
  );
}

/** The members of a specification that have a field. */
export const specFieldNames: readonly TemplateField[] = [...members.map(({ name }) => name), ...imageMembers];

const healthHints: Readonly<Record<HealthDraft['kind'], string>> = {
  none: '',
  http: t('Port and path, such as 8080/health. It must respond with a status below 400.'),
  tcp: t('The port that must accept connections, such as 5432.'),
  exec: t('A command in the container that must end with the exit code 0, such as pg_isready.'),
};

const HealthFields = ({
  health: { kind, rest },
  error,
  onChange,
}: {
  readonly health: HealthDraft;
  readonly error: string | undefined;
  readonly onChange: (health: HealthDraft) => void;
}) => (
  <div className="fields">
    <SelectField
      label={t('Health check')}
      value={kind}
      options={[
        { value: 'none', label: t('None') },
        { value: 'http', label: t('HTTP request') },
        { value: 'tcp', label: t('TCP connection') },
        { value: 'exec', label: t('Command') },
      ]}
      onChange={(chosen) => onChange({ kind: chosen, rest })}
    />
    {kind !== 'none' && (
      <TextField
        label={t('What is checked')}
        hint={healthHints[kind]}
        mono
        value={rest}
        error={error}
        onChange={(changed) => onChange({ kind, rest: changed })}
      />
    )}
  </div>
);
