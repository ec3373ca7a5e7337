import { useEffect, useState } from 'react';
import { toServerTime } from '../../api/clock.ts';
import { t } from '../../texts/texts.ts';

const SECOND = 1000;

/** The time until a moment of the service, in steps of a second. */
export function Countdown({ to }: { readonly to: string }) {
  const [now, setNow] = useState(() => toServerTime(Date.now()));
  useEffect(() => {
    const timer = setInterval(() => setNow(toServerTime(Date.now())), SECOND);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={to} className="numeric">
      {wordsOfWait(Math.ceil((Date.parse(to) - now) / SECOND))}
    </time>
  );
}

function wordsOfWait(seconds: number): string {
  if (seconds <= 0) return t('now');
  if (seconds < 60) return t('in {seconds} s', { seconds });
  return t('in {minutes} min {seconds} s', { minutes: Math.floor(seconds / 60), seconds: seconds % 60 });
}
