interface MeterProps {
  readonly label?: string;
  readonly used: number;
  readonly total: number;
  readonly words: string;
}

/** A part of a whole, with its words. Without a whole, only the words are shown. */
export function Meter({ label, used, total, words }: MeterProps) {
  const share = total > 0 ? Math.min(1, used / total) : 0;
  return (
    <div className="meter">
      <span className="spread small">
        {label && <span className="muted">{label}</span>}
        <span className="numeric">{words}</span>
      </span>
      {total > 0 && (
        <svg className="track" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden>
          <rect className="meter-back" width="100" height="6" />
          <rect className={share > 0.9 ? 'meter-fill high' : 'meter-fill'} width={share * 100} height="6" />
        </svg>
      )}
    </div>
  );
}

/** More cells than this are a meter. */
const MAX_CELLS = 16;
const CELL = 8;

/** Whole things of which a part is used, such as GPUs, one cell for each. */
export function Cells({ label, used, total, words }: MeterProps) {
  if (total > MAX_CELLS) return <Meter {...(label ? { label } : {})} used={used} total={total} words={words} />;
  return (
    <div className="meter">
      <span className="spread small">
        {label && <span className="muted">{label}</span>}
        <span className="numeric">{words}</span>
      </span>
      <svg className="cells" viewBox={`0 0 ${CELL * MAX_CELLS} 6`} preserveAspectRatio="xMinYMid" aria-hidden>
        {Array.from({ length: total }, (_, index) => CELL * index).map((x) => (
          <rect
            key={x}
            className={x < CELL * used ? 'meter-fill' : 'cell-free'}
            x={x + 0.5}
            y="0.5"
            width={CELL - 2}
            height="5"
            rx="1"
          />
        ))}
      </svg>
    </div>
  );
}

export interface Share {
  readonly label: string;
  readonly count: number;
  readonly className: string;
}

/** The parts of a whole as one bar. The legend beside it states the numbers. */
export function ShareBar({ shares, label }: { readonly shares: readonly Share[]; readonly label: string }) {
  const total = shares.reduce((sum, { count }) => sum + count, 0);
  let start = 0;
  const words = shares.map(({ label: name, count }) => `${name} ${count}`).join(', ');
  return (
    <svg
      className="share-bar"
      viewBox="0 0 400 10"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${words}`}
    >
      <rect className="meter-back" width="400" height="10" />
      {shares.map(({ label: name, count, className }) => {
        const width = total === 0 ? 0 : (count / total) * 400;
        const x = start;
        start += width;
        return <rect key={name} className={className} x={x} width={Math.max(0, width - 1)} height="10" />;
      })}
    </svg>
  );
}
