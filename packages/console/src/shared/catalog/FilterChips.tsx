import { useState } from 'react';
import { t } from '../texts/texts.ts';
import { formatCount } from '../ui/display/format.ts';

/** The number of values that are visible at first. */
const MAX_SHOWN = 12;

interface FilterValue {
  readonly value: string;
  readonly label: string;
  /** The number of objects that match it. Undefined: it is not known. */
  readonly count?: number | undefined;
}

/** The values of a filter side by side. Several can be chosen. */
export function FilterChips({
  label,
  values,
  chosen,
  onChange,
}: {
  readonly label: string;
  readonly values: readonly FilterValue[];
  readonly chosen: readonly string[];
  /** Called with the chosen values, the last one that the user chose at the end. */
  readonly onChange: (chosen: readonly string[]) => void;
}) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? values : values.filter(({ value }, index) => index < MAX_SHOWN || chosen.includes(value));
  return (
    <fieldset className="chips" aria-label={label}>
      <span className="muted small" aria-hidden>
        {label}
      </span>
      {shown.map(({ value, label: words, count }) => {
        const isChosen = chosen.includes(value);
        return (
          <button
            key={value}
            type="button"
            className="chip"
            aria-pressed={isChosen}
            onClick={() => onChange(isChosen ? chosen.filter((one) => one !== value) : [...chosen, value])}
          >
            {count === undefined ? words : t('{name} ({count})', { name: words, count: formatCount(count) })}
          </button>
        );
      })}
      {shown.length < values.length && (
        <button type="button" className="chip" onClick={() => setShowsAll(true)}>
          {t('Show all {count}', { count: formatCount(values.length) })}
        </button>
      )}
    </fieldset>
  );
}
