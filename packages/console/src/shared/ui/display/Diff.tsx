import { t } from '../../texts/texts.ts';
import { changedLines } from './diff.ts';

const marks = { same: ' ', added: '+', removed: '−' } as const;

/** The lines that differ between two texts. */
export function Diff({
  before,
  after,
  label,
}: {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}) {
  const lines = changedLines(before, after);
  if (lines.length === 0) return <p className="muted small body">{t('No differences.')}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
    <section className="diff" aria-label={label} tabIndex={0}>
      {lines.map(({ kind, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity other than their position
        <div key={`${index}-${text}`} className={kind === 'same' ? undefined : kind}>
          {marks[kind]} {text}
        </div>
      ))}
    </section>
  );
}
