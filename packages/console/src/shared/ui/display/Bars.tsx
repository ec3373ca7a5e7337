import { t } from '../../texts/texts.ts';

interface Item {
  readonly key: string;
  readonly label: string;
  readonly value: number;
}

/** A horizontal bar chart. It is a list, so that its values are also text. */
export function Bars({
  items,
  label,
  words,
}: {
  readonly items: readonly Item[];
  readonly label: string;
  readonly words: (value: number) => string;
}) {
  const most = Math.max(1, ...items.map(({ value }) => value));
  if (items.length === 0) return <p className="muted">{t('No data yet.')}</p>;
  return (
    <ul className="bars" aria-label={label}>
      {items.map(({ key, label: name, value }) => (
        <li key={key}>
          <span className="truncate" title={name}>
            {name}
          </span>
          <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden>
            <rect className="meter-back" width="100" height="8" />
            <rect className="bar-1" width={(value / most) * 100} height="8" />
          </svg>
          <span className="numeric small muted">{words(value)}</span>
        </li>
      ))}
    </ul>
  );
}
