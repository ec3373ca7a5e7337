import { useId, useState } from 'react';
import { t } from '../../../../shared/texts/texts.ts';
import { CheckField, FieldError, SelectField, TextField } from '../../../../shared/ui/controls/Field.tsx';
import { Notice } from '../../../../shared/ui/feedback/states.tsx';
import type { Begin, PolicyDraft, Weekday } from './policy-draft.ts';
import { weekdays } from './policy-draft.ts';
import { automaticLimits, automaticRisks, beginWords, failureWords, nameOfDay, orderWords } from './policy-words.ts';

interface Props {
  readonly draft: PolicyDraft;
  /** The message for a member of the policy, such as `updates.from`. */
  readonly errorAt: (path: string) => string | undefined;
  readonly onChange: (draft: PolicyDraft) => void;
  /** What runs, which determines what updates can follow automatically. */
  readonly source: Source;
}

/** `parts`: an application that is not from the catalog. */
type Source = 'template' | 'image' | 'application' | 'parts';

const BEGINS: Readonly<Record<Source, readonly Begin[]>> = {
  template: ['manual', 'template', 'image', 'all'],
  image: ['manual', 'image'],
  application: ['manual', 'application'],
  parts: ['manual'],
};
const ORDERS = ['auto', 'start_first', 'stop_first'] as const;
const FAILURES = ['auto', 'roll_back', 'stop'] as const;

/** The section of a form about updates. */
export function PolicyFields(props: Props) {
  const { draft, errorAt } = props;
  const [isOpen, setOpen] = useState(draft.from !== 'manual');
  return (
    <details
      className="form-section"
      open={isOpen || errorAt('updates') !== undefined}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="strong">{t('Updates')}</summary>
      <div className="form optional">
        <PolicyInputs {...props} />
      </div>
    </details>
  );
}

/** How updates begin, how they replace the instances, and what happens if one fails. */
export function PolicyInputs({ draft, errorAt, onChange, source }: Props) {
  const { from, order, ready, deadline, onFailure, hasWindow } = draft;
  const begins = [...new Set([...BEGINS[source], from])];
  const isOfApplication = source === 'application' || source === 'parts';
  return (
    <>
      <div className="fields">
        <SelectField
          name="updates.from"
          label={t('Updates begin')}
          value={from}
          onChange={(value) => onChange({ ...draft, from: value })}
          options={begins.map((value) => ({ value, label: beginWords[value] }))}
          error={errorAt('updates.from')}
        />
        {!isOfApplication && (
          <SelectField
            name="updates.order"
            label={t('Order')}
            value={order}
            onChange={(value) => onChange({ ...draft, order: value })}
            options={ORDERS.map((value) => ({ value, label: orderWords[value] }))}
            error={errorAt('updates.order')}
          />
        )}
        <TextField
          name="updates.ready_seconds"
          label={t('Seconds for which an instance must be ready')}
          hint={t('Before the next one is replaced, and at the end.')}
          type="number"
          min={0}
          max={3600}
          value={ready}
          onChange={(value) => onChange({ ...draft, ready: value })}
          error={errorAt('updates.ready_seconds')}
        />
        <TextField
          name="updates.deadline_seconds"
          label={t('Seconds after which an update has failed')}
          hint={t('If it is not complete by then.')}
          type="number"
          min={10}
          max={86_400}
          value={deadline}
          onChange={(value) => onChange({ ...draft, deadline: value })}
          error={errorAt('updates.deadline_seconds')}
        />
        <SelectField
          name="updates.on_failure"
          label={t('If an update fails')}
          value={onFailure}
          onChange={(value) => onChange({ ...draft, onFailure: value })}
          options={FAILURES.map((value) => ({ value, label: failureWords[value] }))}
          error={errorAt('updates.on_failure')}
        />
      </div>
      {from !== 'manual' && (
        <>
          <Notice kind="warning" title={automaticRisks[from]}>
            <p>{automaticLimits[from]}</p>
          </Notice>
          <CheckField
            label={t('Begin only in a maintenance window')}
            name="updates.window"
            checked={hasWindow}
            onChange={(value) => onChange({ ...draft, hasWindow: value })}
          />
          {hasWindow && <WindowFields draft={draft} errorAt={errorAt} onChange={onChange} />}
        </>
      )}
    </>
  );
}

function WindowFields({ draft, errorAt, onChange }: Pick<Props, 'draft' | 'errorAt' | 'onChange'>) {
  const { days, start, end, zone } = draft;
  const zones = useId();
  const errorOfDays = errorAt('updates.window.days');
  const toggle = (day: Weekday) =>
    onChange({ ...draft, days: days.includes(day) ? days.filter((one) => one !== day) : [...days, day] });
  return (
    <>
      <fieldset className="chips" aria-label={t('Days on which it begins')}>
        <span className="muted small" aria-hidden>
          {t('Days on which it begins')}
        </span>
        {weekdays.map((day) => (
          <button
            key={day}
            type="button"
            className="chip"
            aria-pressed={days.includes(day)}
            onClick={() => toggle(day)}
          >
            {nameOfDay(day)}
          </button>
        ))}
        {errorOfDays && <FieldError text={errorOfDays} />}
      </fieldset>
      <div className="fields">
        <TextField
          name="updates.window.start"
          label={t('From')}
          type="time"
          value={start}
          onChange={(value) => onChange({ ...draft, start: value })}
          error={errorAt('updates.window.start')}
        />
        <TextField
          name="updates.window.end"
          label={t('Until')}
          hint={t('Before the start: on the next day. What has begun continues.')}
          type="time"
          value={end}
          onChange={(value) => onChange({ ...draft, end: value })}
          error={errorAt('updates.window.end')}
        />
        <TextField
          name="updates.window.time_zone"
          label={t('Time zone')}
          value={zone}
          list={zones}
          onChange={(value) => onChange({ ...draft, zone: value })}
          error={errorAt('updates.window.time_zone')}
        />
        <datalist id={zones}>
          {Intl.supportedValuesOf('timeZone').map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </div>
    </>
  );
}
